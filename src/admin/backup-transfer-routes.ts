import { Buffer } from "node:buffer";
import { z } from "zod";
import { PART_NAME } from "../backup/format.ts";
import type { OpenFile } from "../storage/backup-store.ts";
import { NO_BACKUP } from "./backup-answers.ts";
import { BACKUPS_UNAVAILABLE, ofBackup } from "./backup-routes.ts";
import type { BackupAccess } from "./backup-use-cases.ts";
import { BODY_INCOMPLETE } from "./body.ts";
import { type Refusal, route } from "./route.ts";
import { sha256Hex } from "./run-schema.ts";
import { askBackups } from "./store-calls.ts";

/** Most bytes of an uploaded file; upstream files may have 64 MiB. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Most bytes of a manifest. */
const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;

const partPath = {
  path: "/admin/backup/:id/parts/:name",
  params: ofBackup.params.extend({
    name: z.string().regex(PART_NAME, "is not the name of a part"),
  }),
  invalidParams: 400,
} as const;
const objectPath = {
  path: "/admin/backup/objects/:sha256",
  params: z.object({ sha256: sha256Hex }),
  invalidParams: 400,
} as const;
const manifestPath = { path: "/admin/backup/:id/manifest", ...ofBackup } as const;

const FILE = { description: "Its bytes", file: true } as const;
/** How long a file may take. */
const UPLOAD_DEADLINE_MS = 5 * 60_000;
const TAKEN = { 204: { description: "It is stored" } } as const;
const UPLOAD_PROBLEMS = {
  400: "`digest_missing`, `digest_mismatch`: the bytes have another SHA-256",
  411: "`length_required`: send Content-Length",
  413: "`body_too_large`",
  503: BACKUPS_UNAVAILABLE,
};

/** Moving a backup to a disk and back, file by file; `npm run backup:download` and `:upload`. */
export function backupTransferRoutes({ jobs, store }: BackupAccess) {
  const readObject = route({
    method: "get",
    ...objectPath,
    summary: "An object that backups share",
    access: "read",
    responses: { 200: FILE },
    problems: {
      404: "`object_not_found`: it is not there, or not as it was stored",
      503: BACKUPS_UNAVAILABLE,
    },
  }).answer(async ({ params: { sha256 } }) => {
    const isWhole = (await askBackups(store.objectBytes(sha256))) !== null;
    const file = isWhole ? await askBackups(store.openObject(sha256)) : null;
    return file === null ? notThere("object") : send(file);
  });

  const writeObject = route({
    method: "put",
    ...objectPath,
    summary: "Store an object for a backup that is to follow",
    access: "operate",
    action: "backup.upload_object",
    audited: "refusals",
    upload: "The object, whose SHA-256 is in the path",
    responses: TAKEN,
    problems: UPLOAD_PROBLEMS,
  }).answer(async ({ params: { sha256 }, upload, headers }) =>
    storeUpload(upload, headers, (bytes) => store.writeObject({ bytes, sha256 })),
  );

  const readPart = route({
    method: "get",
    ...partPath,
    summary: "A part of a backup",
    access: "read",
    responses: { 200: FILE },
    problems: { 404: "`part_not_found`", 503: BACKUPS_UNAVAILABLE },
  }).answer(async ({ params: { id, name } }) => {
    const file = await askBackups(store.openPart(id, name));
    return file === null ? notThere("part") : send(file);
  });

  const writePart = route({
    method: "put",
    ...partPath,
    summary: "Store a part of a backup that is to follow",
    description: "With Content-Digest (RFC 9530): `sha-256=:<base64>:`.",
    access: "operate",
    action: "backup.upload_part",
    audited: "refusals",
    upload: "The part",
    responses: TAKEN,
    problems: { ...UPLOAD_PROBLEMS, 409: "`backup_exists`: a whole backup is never changed" },
  }).answer(async ({ params: { id, name }, upload, headers }) => {
    const sha256 = readDigest(headers);
    if (sha256 === undefined) return NO_DIGEST;
    if ((await askBackups(store.readManifest(id))) !== null) return EXISTS;
    return storeUpload(upload, headers, (bytes) => store.writePart(id, name, { bytes, sha256 }));
  });

  const readManifest = route({
    method: "get",
    ...manifestPath,
    summary: "The manifest of a backup, exactly as it is stored",
    access: "read",
    responses: { 200: FILE },
    problems: { 404: "`backup_not_found`", 503: BACKUPS_UNAVAILABLE },
  }).answer(async ({ params: { id } }) => {
    const text = await askBackups(store.readManifest(id));
    if (text === null) return NO_BACKUP;
    const bytes = new TextEncoder().encode(text);
    return send({ bytes: new Blob([bytes]).stream(), size: bytes.length });
  });

  const writeManifest = route({
    method: "put",
    ...manifestPath,
    summary: "Store the manifest of an uploaded backup, by which it begins to exist",
    description: "To be sent last. The backup is pinned, since retention might find it too old.",
    access: "operate",
    action: "backup.upload",
    upload: "The manifest, exactly as it was downloaded",
    responses: {
      201: { description: "The backup exists now; Location names it" },
      204: { description: "It is there already, the same" },
    },
    problems: {
      400: "`manifest_unusable`: see the detail; `body_incomplete`: it was cut off",
      409: "`backup_exists`: another one with this id; `backup_incomplete`: a file has not arrived",
      411: UPLOAD_PROBLEMS[411],
      413: UPLOAD_PROBLEMS[413],
    },
  }).answer(async ({ params: { id }, upload, headers, actor }) => {
    const refusal = checkLength(headers, MAX_MANIFEST_BYTES);
    if (refusal !== undefined) return refusal;
    const text = await new Response(upload).text().catch(() => undefined);
    if (text === undefined) return { problem: BODY_INCOMPLETE.problem };
    const result = await jobs.acceptManifest({ id, text, by: actor.id });
    if (result.ok)
      return result.disposition === "unchanged"
        ? { status: 204 }
        : {
            status: 201,
            headers: { location: `/admin/backup/${id}` },
            change: { after: { pinned: true } },
          };
    if (result.reason === "exists") return EXISTS;
    const { code, message } = result.fault;
    return result.reason === "incomplete"
      ? problem(409, "backup_incomplete", `${message}. Send it, then the manifest again.`)
      : problem(400, "manifest_unusable", `${message} (${code}).`);
  });

  return [readObject, writeObject, readManifest, writeManifest, readPart, writePart];
}

function send({ bytes, size }: OpenFile) {
  return { status: 200, file: bytes, headers: { "content-length": String(size) } } as const;
}

/** Stores an upload whose length is announced and bearable, and whose hash the store checks. */
async function storeUpload(
  upload: ReadableStream<Uint8Array> | null,
  headers: Headers,
  write: (bytes: ReadableStream<Uint8Array> | Uint8Array) => Promise<void>,
): Promise<Refusal | { readonly status: 204 }> {
  const refusal = checkLength(headers, MAX_FILE_BYTES);
  if (refusal !== undefined) {
    await upload?.cancel();
    return refusal;
  }
  const written = write(upload ?? new Uint8Array());
  const isWhole = await askBackups(
    written.then(() => true, isNoMismatch),
    UPLOAD_DEADLINE_MS,
  );
  return isWhole ? { status: 204 } : MISMATCH;
}

/** False for R2's refusal of bytes with another hash; throws any other error. */
function isNoMismatch(error: unknown): false {
  if (isMismatch(error)) return false;
  throw error;
}

/** R2 refuses bytes of another hash with this error code, and nothing else tells it from others. */
function isMismatch(error: unknown): boolean {
  return error instanceof Error && /10037|checksum|SHA-256/i.test(error.message);
}

function checkLength(headers: Headers, maxBytes: number): Refusal | undefined {
  const length = headers.get("content-length");
  if (length === null || !/^\d{1,15}$/.test(length))
    return problem(411, "length_required", "Send the number of bytes as Content-Length.");
  if (Number(length) <= maxBytes) return undefined;
  return problem(413, "body_too_large", `The body may have ${maxBytes} bytes at most.`);
}

/** The SHA-256 (hex) of a Content-Digest field (RFC 9530). */
function readDigest(headers: Headers): string | undefined {
  const field = headers.get("content-digest") ?? "";
  const [, digest] = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(field) ?? [];
  return digest === undefined ? undefined : Buffer.from(digest, "base64").toString("hex");
}

function notThere(what: "object" | "part"): Refusal {
  return problem(404, `${what}_not_found`, `There is no such ${what}, or not as it was stored.`);
}

const NO_DIGEST = problem(
  400,
  "digest_missing",
  "Send the SHA-256 of the bytes as `Content-Digest: sha-256=:<base64>:`.",
);
const MISMATCH = problem(
  400,
  "digest_mismatch",
  "The bytes that arrived have another SHA-256 than was announced. Send them again.",
);
const EXISTS = problem(
  409,
  "backup_exists",
  "There is a whole backup with this id already, and it is never changed.",
);

function problem(status: Refusal["problem"]["status"], code: string, detail: string): Refusal {
  return { problem: { status, code, detail } };
}
