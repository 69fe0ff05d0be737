/** The metadata of the manifest in R2 name the owner of the stores. */
import { MANIFEST_FORMAT } from "../parts/manifest.ts";
import { orStoreError } from "../platform/deadline.ts";
import { isFormat } from "../platform/ranges.ts";
import { MANIFEST_KEY } from "./keys.ts";

/** The right of an installation to replace the manifest in R2. */
export interface Claim {
  readonly owner: string;
  /** ETag of another owner's manifest that an operator lets this one replace; null for none. */
  readonly replaceable: () => string | null;
  /** Records the message of ForeignStores; null if this installation owns the stores. */
  readonly checked: (problem: string | null) => void;
}

/** Another installation or a newer Worker owns the manifest in R2. The message says what to do. */
export class ForeignStores extends Error {
  override readonly name = "ForeignStores";
  /** ETag of another installation's manifest, which may be taken over; null for a newer Worker's. */
  readonly etag: string | null;

  constructor(message: string, etag: string | null) {
    super(message);
    this.etag = etag;
  }
}

const HEAD_DEADLINE_MS = 3_000;

/**
 * Throws ForeignStores if the manifest in R2 belongs to another installation or a newer Worker, and
 * StoreError if R2 fails.
 *
 * @returns the ETag of that manifest; null if there is none.
 */
export async function checkOwnerOf(r2: R2Bucket, claim: Claim): Promise<string | null> {
  const head = r2.head(MANIFEST_KEY);
  const stored = await orStoreError(`R2 head ${MANIFEST_KEY}`, HEAD_DEADLINE_MS, head);
  const foreign = stored && findForeign(stored, claim);
  claim.checked(foreign?.message ?? null);
  if (foreign !== null) throw foreign;
  return stored && stored.etag;
}

/** Explains why the installation may not replace a stored manifest; null if it may. */
function findForeign({ etag, customMetadata }: R2Object, claim: Claim): ForeignStores | null {
  const { owner = "without a name", format } = customMetadata ?? {};
  // No Worker writes any other value.
  if (isFormat(Number(format)) && Number(format) > MANIFEST_FORMAT)
    return new ForeignStores(
      `R2 has a manifest of format ${format}, and this Worker knows formats up to ${MANIFEST_FORMAT}. Deploy the newer Worker again.`,
      null,
    );
  if (owner === claim.owner || etag === claim.replaceable()) return null;
  return new ForeignStores(
    `R2 has the manifest of another installation (${owner}). Give this one a bucket of its own; or call POST /admin/catalog/take-over, if the other no longer runs.`,
    etag,
  );
}
