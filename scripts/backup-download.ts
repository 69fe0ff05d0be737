/** `npm run backup:download`: a backup from an installation to a folder. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isBackupId } from "../src/backup/backup-id.ts";
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
import { type BackupFile, filesOf, hashFile, writeChecked } from "./backup-files.ts";
import { runCommand } from "./command.ts";
import { ProgressBar } from "./progress-bar.ts";
import { StartError } from "./start-error.ts";

const HELP = `Usage: npm run backup:download -- ID FOLDER [options]

Brings the backup ID from an installation into FOLDER, and checks every byte. What is there already
is kept, so that a download which was cut off goes on. manifest.json comes last: a folder without it
is no backup.

${INSTALLATION_HELP}`;

/** Files under way at a time. */
const AT_A_TIME = 4;

await runCommand(HELP, async () => {
  const { values, positionals } = parseArgs({
    options: INSTALLATION_OPTIONS,
    allowPositionals: true,
  });
  if (values.help) return void process.stdout.write(HELP);
  const [id, folder, ...more] = positionals;
  if (id === undefined || folder === undefined || more.length > 0)
    throw new StartError(`Give the id of a backup and a folder.\n\n${HELP}`);
  if (!isBackupId(id)) throw new StartError(`"${id}" is not the id of a backup (a UUIDv7)`);
  await download(findInstallation(values), id, folder);
});

async function download(installation: Installation, id: string, folder: string): Promise<void> {
  const { text, manifest } = await readManifest(installation, id);
  const manifestFile = join(folder, "manifest.json");
  if (existsSync(manifestFile) && readFileSync(manifestFile, "utf8") !== text)
    throw new StartError(`${folder} holds another backup; choose an empty folder`);
  for (const name of ["parts", "objects"]) mkdirSync(join(folder, name), { recursive: true });
  const bar = new ProgressBar(process.stdout);
  const files = filesOf(manifest);
  let done = 0;
  await mapConcurrently(files, AT_A_TIME, async (file) => {
    await downloadFile(installation, folder, file);
    bar.show("downloading", { name: "files", done: ++done, total: files.length, areLast: true });
  });
  writeFileSync(`${manifestFile}.partial`, text);
  renameSync(`${manifestFile}.partial`, manifestFile);
  bar.end(`Backup ${id} is in ${folder}: ${files.length} files, ${backupBytes(manifest)} bytes.`);
}

async function readManifest(
  installation: Installation,
  id: string,
): Promise<{ text: string; manifest: BackupManifest }> {
  const answer = await callAdmin(installation, `/admin/backup/${id}/manifest`);
  if (!answer.ok) throw new StartError(await describeAnswer(answer));
  const text = await answer.text();
  const parsed = parseManifest(text, id);
  if (parsed.ok) return { text, manifest: parsed.manifest };
  throw new StartError(`Backup ${id} cannot be used: ${parsed.fault.message}`);
}

async function downloadFile(
  installation: Installation,
  folder: string,
  { path, route, sha256 }: BackupFile,
): Promise<void> {
  const target = join(folder, path);
  if ((await hashFile(target)) === sha256) return;
  const answer = await callAdmin(installation, route);
  if (!answer.ok || answer.body === null)
    throw new StartError(`${route}: ${await describeAnswer(answer)}`);
  if (await writeChecked(target, answer.body, sha256)) return;
  throw new StartError(`${route} came with other bytes than the manifest says: it is damaged`);
}
