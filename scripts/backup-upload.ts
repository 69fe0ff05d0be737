/** `npm run backup:upload`: a backup from a folder into an installation. */
import { Buffer } from "node:buffer";
import { openAsBlob, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { backupBytes, type BackupManifest } from "../src/backup/format.ts";
import { mapConcurrently } from "../src/backup/map-concurrently.ts";
import { parseManifest } from "../src/backup/parse-manifest.ts";
import {
  callAdmin,
  describeAnswer,
  findInstallation,
  type Installation,
  INSTALLATION_HELP,
  INSTALLATION_OPTIONS,
} from "./admin-client.ts";
import { type BackupFile, filesOf, hashFile } from "./backup-files.ts";
import { runCommand } from "./command.ts";
import { ProgressBar } from "./progress-bar.ts";
import { StartError } from "./start-error.ts";

const HELP = `Usage: npm run backup:upload -- FOLDER [options]

Brings the backup in FOLDER into an installation, where it is pinned. Every byte is checked on both
sides, objects that are there already are not sent, and the manifest goes last: until then the
backup does not exist there. Restore it with POST /admin/backup/ID/restore.

${INSTALLATION_HELP}`;

/** Files under way at a time. */
const AT_A_TIME = 4;

await runCommand(HELP, async () => {
  const { values, positionals } = parseArgs({
    options: INSTALLATION_OPTIONS,
    allowPositionals: true,
  });
  if (values.help) return void process.stdout.write(HELP);
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0)
    throw new StartError(`Give the folder of a backup.\n\n${HELP}`);
  await upload(findInstallation(values), folder);
});

async function upload(installation: Installation, folder: string): Promise<void> {
  const { text, manifest } = readManifest(folder);
  const files = filesOf(manifest);
  await assertWhole(folder, files);
  const bar = new ProgressBar(process.stdout);
  let done = 0;
  const path = `/admin/backup/${manifest.id}/manifest`;
  const present = await callAdmin(installation, path);
  const isThere = present.ok && (await present.text()) === text;
  if (!isThere)
    await mapConcurrently(files, AT_A_TIME, async (file) => {
      await uploadFile(installation, folder, file);
      bar.show("uploading", { name: "files", done: ++done, total: files.length, areLast: true });
    });
  const answer = await callAdmin(installation, path, () => ({ method: "PUT", body: text }));
  if (!answer.ok) throw new StartError(await describeAnswer(answer));
  bar.end(
    answer.status === 201
      ? `Backup ${manifest.id} is there: ${files.length} files, ${backupBytes(manifest)} bytes.`
      : `Backup ${manifest.id} was there already.`,
  );
}

function readManifest(folder: string): { text: string; manifest: BackupManifest } {
  const file = join(folder, "manifest.json");
  const text = readText(file);
  const parsed = parseManifest(text, idIn(text));
  if (parsed.ok) return { text, manifest: parsed.manifest };
  throw new StartError(`${file} cannot be used: ${parsed.fault.message}`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new StartError(`There is no ${file}: the folder holds no backup, or not all of one`);
  }
}

function idIn(text: string): string {
  try {
    return String(JSON.parse(text).id);
  } catch {
    return "";
  }
}

/** Looks at everything before anything is sent. */
async function assertWhole(folder: string, files: readonly BackupFile[]): Promise<void> {
  for (const { path, sha256 } of files) {
    const found = await hashFile(join(folder, path));
    if (found === undefined) throw new StartError(`${join(folder, path)} is missing`);
    if (found !== sha256)
      throw new StartError(`${join(folder, path)} is damaged: its bytes have another hash`);
  }
}

async function uploadFile(
  installation: Installation,
  folder: string,
  { kind, path, route, sha256 }: BackupFile,
): Promise<void> {
  if (kind === "object") {
    const known = await callAdmin(installation, route, () => ({ method: "HEAD" }));
    if (known.ok) return;
  }
  const body = await openAsBlob(join(folder, path));
  const digest = Buffer.from(sha256, "hex").toString("base64");
  const answer = await callAdmin(installation, route, () => ({
    method: "PUT",
    headers: {
      "content-digest": `sha-256=:${digest}:`,
      "content-type": "application/octet-stream",
    },
    body,
  }));
  if (!answer.ok) throw new StartError(`${route}: ${await describeAnswer(answer)}`);
}
