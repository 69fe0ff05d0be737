/**
 * Every fault and every kind of bad input that the service must bear, and the tests that show that it
 * does: each of them fails where the defence is taken away.
 */

/** With fakes or spies, or with what is deployed in a process of its own. */
export type Place = "fakes" | "process";

export interface FaultCase {
  readonly row: number;
  readonly fault: string;
  /** What must happen then. */
  readonly must: string;
  /** Where it must be shown, each by a test at least. */
  readonly shownIn: readonly Place[];
  readonly tests: readonly ShowingTest[];
}

/** A test, or a group of them, by the words of its `it` or `describe`. */
export interface ShowingTest {
  /** Below `test/`. */
  readonly file: string;
  readonly title: string;
}

/** The tests of a file. */
function tests(file: string, ...titles: readonly string[]): ShowingTest[] {
  return titles.map((title) => ({ file, title }));
}

const FAKES = ["fakes"] as const;
const PROCESS = ["process"] as const;
const BOTH = ["fakes", "process"] as const;

export const FAULTS: readonly FaultCase[] = [
  {
    row: 1,
    fault: "KV refuses the manifest, to an isolate that holds one",
    must: "the held one is served on, and the log says so",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/storage/manifest-memo.test.ts",
        "is kept when neither store answers, and they are left alone for a while",
        "gives way to a newer one in R2 when KV does not answer",
      ),
      ...tests(
        "workers/storage/catalog-store.test.ts",
        "is unreadable where a store throws, and the fault says why",
      ),
    ],
  },
  {
    row: 2,
    fault: "KV refuses the manifest, to an isolate that holds nothing",
    must: "R2's copy is served; without that, `unavailable` and never an empty body",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/storage/manifest-memo.test.ts",
        "R2 answers where KV %s",
        "is unavailable when %s",
      ),
      ...tests(
        "node/storage/cached-catalog-reader.test.ts",
        "is unavailable when both stores are down, and there again when they are",
      ),
      ...tests(
        "workers/rpc/errors.test.ts",
        "because of %s is unavailable, with a hint when to retry",
      ),
    ],
  },
  {
    row: 3,
    fault: "KV never settles",
    must: "it is given up in time, and then as where it refuses",
    shownIn: PROCESS,
    tests: [
      ...tests(
        "crash/production-bundle.test.ts",
        "serves from R2 while KV never answers",
        "serves what it holds while KV never answers, though it looks for newer at each request",
      ),
      ...tests(
        "workers/storage/catalog-store.test.ts",
        "is unreadable where the store never answers",
      ),
      ...tests(
        "node/storage/stuck-stores.test.ts",
        "is not waited for without end, to have %s: %s",
      ),
    ],
  },
  {
    row: 4,
    fault: "a blob is gone, though the manifest names it",
    must: "the version before is served if it is held, else R2's copy",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/storage/cached-catalog-reader.test.ts",
        "comes from R2, in an isolate that holds nothing, when it %s",
        "is replaced by the version that the isolate holds, when it %s",
        "is replaced by the version before, when it is %s",
      ),
      ...tests("workers/storage/catalog-store.test.ts", "is missing where %s has none"),
    ],
  },
  {
    row: 5,
    fault: "a blob has one bit flipped",
    must: "the same: no byte of it is served",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/storage/cached-catalog-reader.test.ts",
        "comes from R2, in an isolate that holds nothing, when it %s",
        "is replaced by the version that the isolate holds, when it %s",
        "is data loss where no copy of any version is right",
      ),
      ...tests("workers/storage/catalog-store.test.ts", "is corrupt when %s holds other bytes"),
    ],
  },
  {
    row: 6,
    fault: "the manifest is no JSON, lacks a locale or has wrong types",
    must: "the last good one is served on, and an alert fires",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/storage/manifest-memo.test.ts",
        "is kept when KV holds “%s”",
        "is kept when both stores hold a newer one that %s",
      ),
      ...tests(
        "workers/storage/catalog-store.test.ts",
        "is corrupt when it says “%s”",
        "is corrupt when it lacks a locale that it was written with",
      ),
      ...tests("node/catalog/parse-manifest.test.ts", "refuses %s: %j"),
      ...tests("node/health/rules.test.ts", "is met where the manifest %s"),
    ],
  },
  {
    row: 7,
    fault: "a locale that nobody knows",
    must: "it falls back as documented or is `invalid_argument`, and names no key of a store",
    shownIn: FAKES,
    tests: [
      ...tests(
        "workers/rpc/locale.test.ts",
        "that was asked for in %j is %s",
        "reaches storage only as a published one",
      ),
      ...tests(
        "workers/rpc/errors.test.ts",
        "is the caller's mistake, with the field and an example",
      ),
      ...tests(
        "node/catalog/locale.fuzz.test.ts",
        "is answered in a published locale, of its own language unless in the default",
      ),
    ],
  },
  {
    row: 8,
    fault: "fifty requests at once, to an isolate that holds nothing",
    must: "all are answered, out of few reads, in less memory than an isolate has",
    shownIn: PROCESS,
    tests: [
      ...tests(
        "crash/production-bundle.test.ts",
        "an isolate that holds nothing",
        "answers every form and coding in two locales at once, which are not all read at a time",
        "holds less than an isolate may while it reads %s",
      ),
      ...tests(
        "node/storage/cached-catalog-reader.test.ts",
        "is read once for fifty requests at the same time",
      ),
      ...tests(
        "node/storage/manifest-memo.test.ts",
        "KV is asked once for fifty who ask at the same time, and R2 not at all",
      ),
    ],
  },
  {
    row: 9,
    fault: "KV answers 429 to a blob that is written",
    must: "it is written again, ever later; nothing is published meanwhile",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/ingest/coordinator-faults.test.ts",
        "fails the run after five attempts, tries it once more after a minute, and serves what it did",
      ),
      ...tests(
        "workers/ingest/coordinator-faults.test.ts",
        "is published all the same, by repeating the steps that failed",
        "shows nothing of itself before it is complete",
      ),
    ],
  },
  {
    row: 10,
    fault: "KV refuses a blob of one locale among many",
    must: "the manifest stays as it is",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/ingest/pipeline-faults.test.ts",
        "no manifest is written: a blob that KV refuses leaves the published version as it is",
      ),
      ...tests(
        "node/ingest/coordinator-faults.test.ts",
        "fails the run after five attempts, tries it once more after a minute, and serves what it did",
      ),
    ],
  },
  {
    row: 11,
    fault: "a rollback",
    must: "a new, higher generation has the old hashes; only manifests are written",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/ingest/coordinator-versions.test.ts",
        "serves the earlier bodies under a new, higher generation, by writing manifests only",
      ),
      ...tests(
        "workers/ingest/versions.test.ts",
        "serves the earlier blobs again under a new generation, also while paused",
      ),
    ],
  },
  {
    row: 12,
    fault: "a rollback to a version that is kept no more",
    must: "it is refused, and nothing changes",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/ingest/coordinator-versions.test.ts",
        "to a version that is not retained is refused, and nothing changes",
      ),
      ...tests(
        "workers/ingest/versions.test.ts",
        "to what is current changes nothing, and is refused to what is not retained",
      ),
      ...tests("workers/admin/catalog/version-routes.test.ts", "refuses a generation that is not retained"),
    ],
  },
  {
    row: 13,
    fault: "D1 is down for a whole run",
    must: "the run ends; its rows wait, arrive later and are right",
    shownIn: FAKES,
    tests: [
      ...tests(
        "workers/ingest/coordinator-faults.test.ts",
        "ends all the same; its rows wait, and arrive when D1 is back",
      ),
      ...tests(
        "node/ingest/coordinator-faults.test.ts",
        "runs go on; their rows arrive afterwards, once each and in order",
        "at “%s” stops nothing: the run goes on, and everything arrives when it answers again",
      ),
    ],
  },
  {
    row: 14,
    fault: "D1 fails at one write only, or takes it and its reply is lost",
    must: "no run has two rows",
    shownIn: FAKES,
    tests: [
      ...tests(
        "workers/ingest/coordinator-faults.test.ts",
        "has one row, though D1 took the rows and its answer was lost",
      ),
      ...tests(
        "node/ingest/coordinator-faults.test.ts",
        "a D1 that fails at one write, whichever that is,",
      ),
      ...tests(
        "workers/storage/history.test.ts",
        "does not let an earlier row replace a later one, however the calls are ordered",
        "changes nothing when the same rows come again",
        "writes all rows or none",
      ),
    ],
  },
  {
    row: 15,
    fault: "more than a hundred ids in a query of D1",
    must: "it is asked for some at a time",
    shownIn: FAKES,
    tests: tests(
      "workers/storage/history-listing.test.ts",
      "are told by id, however many are asked for",
    ),
  },
  {
    row: 16,
    fault: "R2 refuses halfway through a backup, or through deleting one",
    must: "no backup seems complete, and the next one is clean",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/backup/crash.test.ts",
        "halfway through the objects leaves no whole backup, and the next one is clean",
        "at any call to it for good fails the backup, and leaves no whole one",
      ),
      ...tests(
        "workers/backup/routes.test.ts",
        "begins with its manifest, so that what is left where R2 fails never looks whole",
      ),
    ],
  },
  {
    row: 17,
    fault: "a restore of what is altered, cut off, incomplete, of another schema or of the future",
    must: "it is refused, and nothing has changed",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/backup/damage.test.ts",
        "%s is refused as %s, and nothing has changed",
      ),
      ...tests(
        "node/backup/archives.fuzz.test.ts",
        "restores what was saved, or nothing at all",
      ),
    ],
  },
  {
    row: 18,
    fault: "a restore while a run is under way",
    must: "it waits for its turn",
    shownIn: FAKES,
    tests: tests(
      "node/backup/jobs.test.ts",
      "takes a restore in its turn: after what is under way or waits",
    ),
  },
  {
    row: 19,
    fault: "a backup's id that leads elsewhere, or is none",
    must: "400 before any store is asked, or a path that there is not",
    shownIn: FAKES,
    tests: tests(
      "workers/backup/routes.test.ts",
      "(%s) is a 400 on every route, and reaches nothing",
      "(%s) that leads out of the backups is a path that there is not, and reaches nothing",
    ),
  },
  {
    row: 20,
    fault: "more than 1,000 backups",
    must: "they are listed page by page",
    shownIn: FAKES,
    tests: tests(
      "workers/backup/routes.test.ts",
      "has all of more than 1,000, page by page, and says what is wrong with which",
    ),
  },
  {
    row: 21,
    fault: "a CSV that is cut off within a row or within quotes",
    must: "it is refused, and what is served stays",
    shownIn: FAKES,
    tests: [
      ...tests("node/sources/csv.test.ts", "refuses a file as %s when %s"),
      ...tests(
        "node/ingest/verdict.test.ts",
        "fails the run as %s when it %s, by force too",
      ),
      ...tests(
        "node/ingest/pipeline.test.ts",
        "end the run when they %s, and nothing is written",
      ),
    ],
  },
  {
    row: 22,
    fault: "half of the rows, none, or three times as many",
    must: "a guard trips, an alert fires, and only an operator's force publishes",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/ingest/verdict.test.ts",
        "an upstream that lost half of its rows",
        "an upstream without rows",
        "an upstream with three times the rows",
      ),
      ...tests(
        "workers/ingest/versions.test.ts",
        "is refused by the guards when half of them is gone, and nothing changes",
      ),
      ...tests("node/health/rules.test.ts", "guard_tripped"),
    ],
  },
  {
    row: 23,
    fault: "bytes that are not UTF-8, a byte order mark, CRLF, NUL, half a character",
    must: "the file is refused, or read in the one documented way",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/sources/csv.test.ts",
        "refuses bytes that are not UTF-8: %s",
        "reads a file with %s",
      ),
      ...tests(
        "node/sources/our-airports.test.ts",
        "with %j becomes %j and is counted as %j",
        "is rejected as %s for %j, and says which row it was",
      ),
      ...tests(
        "node/ingest/verdict.test.ts",
        "fails the run as %s when it %s, by force too",
      ),
    ],
  },
  {
    row: 24,
    fault: "a body over the limit, of another length than it says, or without an end",
    must: "it is given up by its size, its length or a deadline",
    shownIn: BOTH,
    tests: [
      ...tests(
        "node/sources/http-upstream-faults.test.ts",
        "a file over the limit",
        "ends the run with what was sent when a body is shorter than announced",
        "ends the run when it drips without end, at the deadline for all files",
      ),
      ...tests(
        "system/upstream.test.ts",
        "fails the run by %s, and what is served stays",
        "is asked again when less comes than its Content-Length says",
      ),
      ...tests(
        "crash/production-bundle.test.ts",
        "is cut off at the limit, and what is served stays",
        "but drips is given up at the deadline for all files, and what is served stays",
      ),
      ...tests(
        "workers/rpc/request-body.test.ts",
        "a body over 4,096 bytes",
        "a body that is not as announced",
        "that does not arrive in time is deadline_exceeded, on time: one %s",
      ),
      ...tests("system/raw-http.test.ts", "refuses %s at once"),
    ],
  },
  {
    row: 25,
    fault: "columns that are missing, more or in another order; values that are no values",
    must: "the file or the row is refused, by a rule that has a name",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/sources/our-airports.test.ts",
        "refuses a file without the column %s",
        "reads columns in any order, and does not need those that it does not use",
        "is rejected as %s for %j, and says which row it was",
        "is rejected as column_count with too many or too few values",
        "never gives a negative zero, which JSON and Protocol Buffers would tell apart",
      ),
      ...tests(
        "node/sources/upstream.fuzz.test.ts",
        "have each row of airports.csv kept, filtered or rejected, or are refused",
      ),
    ],
  },
  {
    row: 26,
    fault: "upstream answers 429, 500 or 503, or redirects in circles or to another host",
    must: "so many attempts and no more, not before `Retry-After`, and never off the list",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/sources/http-upstream-faults.test.ts",
        "is got over when upstream %s once",
        "ends the run when it lasts, after four attempts further and further apart",
        "Retry-After",
        "in a loop ends the run after six requests",
        "%s ends the run at once, and tells no secret",
      ),
      ...tests("node/sources/fetch-policy.test.ts", "refuses %s: it %s"),
      ...tests("system/upstream.test.ts", "fails the run by %s, and what is served stays"),
    ],
  },
  {
    row: 27,
    fault: "upstream changes between two files of a run",
    must: "that is noticed, and both are read anew",
    shownIn: FAKES,
    tests: tests(
      "node/sources/http-upstream.test.ts",
      "is read from the beginning, so that both files are of one version",
      "is noticed by Last-Modified alone, too",
      "ends the run when it goes on publishing",
    ),
  },
  {
    row: 28,
    fault: "a step of a run throws, whichever it is",
    must: "it is repeated from what was recorded",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/ingest/coordinator-faults.test.ts",
        "leaves the same version, and the run tells that it tried again",
        "loses nothing: the run completes with the same version, and its row arrives",
      ),
      ...tests(
        "node/ingest/pipeline-faults.test.ts",
        "and fails at any one call to the stores that counts publishes the same bytes",
      ),
      ...tests(
        "workers/ingest/coordinator-faults.test.ts",
        "is published all the same, by repeating the steps that failed",
      ),
    ],
  },
  {
    row: 29,
    fault: "the process is killed in any step",
    must: "the run ends as one, once, and whole bodies are served all the while",
    shownIn: PROCESS,
    tests: [
      ...tests(
        "crash/crash.test.ts",
        "was killed in every one, and in encode early and late",
        "completes by itself, in one attempt, as the next generation",
        "is one row of the history in D1, which says the same",
        "serves the old catalog or the new one all the time, whole, and the new one in the end",
      ),
      ...tests(
        "crash/backup.test.ts",
        "a backup whose process is killed in the middle",
        "a restore whose process is killed in the middle",
      ),
    ],
  },
  {
    row: 30,
    fault: "a run that fails each time",
    must: "it fails after so many attempts, and the next one goes on",
    shownIn: FAKES,
    tests: tests(
      "node/ingest/coordinator-queue.test.ts",
      "lets the next one proceed, also when it takes the coordinator down with it each time",
      "by its content is not tried again",
    ),
  },
  {
    row: 31,
    fault: "two who queue the same at once",
    must: "one run, and the same answer to both",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/ingest/coordinator-queue.test.ts",
        "is the same run for two callers who race, and one run is made",
      ),
      ...tests("workers/ingest/coordinator.test.ts", "make one run, and both get it"),
    ],
  },
  {
    row: 32,
    fault: "a pause during any step",
    must: "the run stops at its end without publishing, and goes on after the resume",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/ingest/coordinator-pause.test.ts",
        "before the %s step holds it; after the resume it goes on",
        "during the %s step stops the run at the next boundary",
      ),
      ...tests(
        "workers/ingest/pause.test.ts",
        "stops a run at a step boundary, and the run goes on after resume",
      ),
    ],
  },
  {
    row: 33,
    fault: "a deploy in the middle of a run, of newer or of older code",
    must: "the run goes on safely with tables of either age",
    shownIn: PROCESS,
    tests: [
      ...tests(
        "crash/production-bundle.test.ts",
        "of newer code, whose tables D1 lacks, publishes, and is served",
        "leaves no hole in the history: its row comes when the tables are there",
        "of older code, whose tables D1 has moved on from, publishes, and is in the history",
      ),
      ...tests("node/ingest/pipeline-deploys.test.ts", "a deploy in the middle of a run"),
    ],
  },
  {
    row: 34,
    fault: "a Durable Object's stub is broken, since the object was reset",
    must: "a fresh stub, and once more what may be done twice",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/admin/calls/coordinator-calls.test.ts",
        "is made once more through a new stub, if that does no harm",
        "is not made a third time",
        "is never repeated if it might then take effect twice",
      ),
      ...tests(
        "workers/admin/calls/coordinator-reset.test.ts",
        "answers the next call, and has forgotten nothing",
      ),
      ...tests(
        "workers/ingest/cron.test.ts",
        "reaches its job through a new stub where the first one is broken, and counts once",
      ),
    ],
  },
  {
    row: 35,
    fault: "a Durable Object is out of reach or overloaded",
    must: "503 from the admin routes, and the catalog is served as ever",
    shownIn: FAKES,
    tests: [
      ...tests(
        "workers/rpc/coordinator-down.test.ts",
        "an isolate that holds nothing serves the catalog, and the admin routes are 503",
      ),
      ...tests(
        "workers/admin/ingest/ingest-control.test.ts",
        "%s is answered 503, and that nobody knows what came of it",
      ),
      ...tests(
        "node/admin/calls/coordinator-calls.test.ts",
        "is not repeated where the object is overloaded, which that would make worse",
        "is not repeated once it took all its time",
      ),
    ],
  },
  {
    row: 36,
    fault: "cron triggers that overlap, fire twice, do not fire, or that nobody knows",
    must: "each counts once, a missed one is told of, and an unknown one is an error",
    shownIn: BOTH,
    tests: [
      ...tests(
        "crash/production-bundle.test.ts",
        "that fires twice at once makes one run, and one that nobody knows makes none",
      ),
      ...tests(
        "workers/ingest/cron.test.ts",
        "throws for a string that nobody knows, and queues nothing",
        "does not make up for them after resume, and takes the next one, once",
      ),
      ...tests(
        "node/ingest/coordinator-queue.test.ts",
        "is taken once, however often it fires",
        "is skipped while the same run waits, and counted in one row until one is taken",
      ),
      ...tests(
        "node/health/ingest-checks.test.ts",
        "warns of cron ticks that were due and did not come",
      ),
      ...tests("node/alerts/monitor.test.ts", "a gap between two ticks"),
    ],
  },
  {
    row: 37,
    fault: "an admin token that is wrong, empty, long, in Unicode, or not there",
    must: "401 in one shape, after a comparison in constant time",
    shownIn: FAKES,
    tests: [
      ...tests(
        "workers/admin/auth/authentication.test.ts",
        "is answered 401 in the same shape with %s",
        "lets nobody in who sends “%s”",
      ),
      ...tests(
        "node/admin/auth/bearer.test.ts",
        "a token is compared with each configured one in constant time, also when one has matched",
      ),
    ],
  },
  {
    row: 38,
    fault: "a JWT that is forged, for others, too old or too new; keys that cannot be fetched",
    must: "401 or 403 (503 without keys), and few fetches of keys whatever is sent",
    shownIn: FAKES,
    tests: [
      ...tests(
        "node/admin/auth/access-jwt.test.ts",
        "is refused with the algorithm none",
        "is refused when the public key is taken for a shared secret",
        "is refused with %s",
        "is valid for a minute more than it says, on either side",
        "are fetched again for a new key, at most twice a minute",
        "nobody gets in, until they can be again: %j",
        "a fetch is given up whose answer does not end",
      ),
      ...tests(
        "workers/admin/auth/gate.test.ts",
        "a JWT that is refused is 401, in the shape of every 401",
        "is 503 while its keys cannot be read",
        "its user who may only read changes nothing, and the attempt is in the audit",
      ),
      ...tests(
        "workers/admin/auth/access.test.ts",
        "refuses a JWT for another application, or of another team's key",
        "verifies a JWT although the request that fetched the keys was cut off",
      ),
    ],
  },
  {
    row: 39,
    fault: "an admin body that is huge or deep, has a key twice, or `__proto__`",
    must: "413 or 400",
    shownIn: BOTH,
    tests: [
      ...tests(
        "crash/production-bundle.test.ts",
        "%s is refused, and the service goes on",
      ),
      ...tests(
        "workers/admin/ingest/ingest-control.test.ts",
        "takes 16 KiB, and refuses one byte more",
        "does not read on once a body is too large",
        "refuses %.40s, and names what is wrong",
        "refuses %s, of which one field would be lost",
      ),
      ...tests(
        "workers/admin/http/router.test.ts",
        "%s %s refuses a body of over 16 KiB",
        "%s %s refuses `__proto__`",
      ),
    ],
  },
  {
    row: 40,
    fault: "a browser asks from another origin",
    must: "the catalog may be read, and the admin routes send no CORS headers at all",
    shownIn: FAKES,
    tests: [
      ...tests(
        "workers/rpc/cors.test.ts",
        "permits what Connect's and gRPC-Web's clients send",
        "of status %i may be read by any origin",
      ),
      ...tests(
        "workers/admin/auth/authentication.test.ts",
        "learns nothing from %s",
        "gets no CORS headers: browsers of other origins are kept out",
      ),
      ...tests("workers/admin/auth/gate.test.ts", "changes nothing: %j", "may not read an answer either"),
      ...tests("system/conditional-requests.test.ts", "is told nothing by the admin routes"),
    ],
  },
  {
    row: 41,
    fault: "too many failures of one client, or a rate limit that cannot be read",
    must: "429; where it cannot be counted, 401 as ever",
    shownIn: FAKES,
    tests: tests(
      "workers/admin/auth/gate.test.ts",
      "are slowed down by address, and a valid credential is not",
      "are still 401 while they cannot be counted",
      "are slowed down by the Worker itself",
    ),
  },
  {
    row: 42,
    fault: "a secret that is missing or malformed",
    must: "the admin routes are closed and say what to set; no secret is in the log",
    shownIn: FAKES,
    tests: [
      ...tests(
        "workers/admin/auth/unconfigured.test.ts",
        "closes the admin routes, says what to set, and logs no token",
      ),
      ...tests(
        "workers/admin/auth/misconfigured.test.ts",
        "closes the admin routes, and no other door",
      ),
      ...tests("workers/admin/auth/gate.test.ts", "every admin route is closed, and the log says why"),
      ...tests("node/admin/auth/credentials.test.ts", "is not repeated by what is said of it"),
      ...tests("workers/admin/http/router.test.ts", "is found in no log line"),
    ],
  },
];
