/** Fails if a regular expression of `src` or `client` may cost more than linear time. */
import { readdirSync, readFileSync } from "node:fs";
import { EXCEPTIONS, findExpressions, findProblems, judge, type Verdict } from "./expressions.ts";

const files = ["src", "client/src"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
);
const verdicts: Verdict[] = [];
for (const file of [...files, "client/build.ts"].filter((name) => /\.tsx?$/.test(name)).toSorted())
  for (const expression of findExpressions(file, readFileSync(file, "utf8")))
    verdicts.push(await judge(expression));

const problems = findProblems(verdicts, EXCEPTIONS);
const linear = verdicts.filter(({ objection }) => objection === null);
process.stdout.write(
  `${verdicts.length} regular expressions: ${linear.length} are linear, ${Object.keys(EXCEPTIONS).length} are exceptions.\n`,
);
if (problems.length > 0) {
  process.stderr.write(
    `${problems.join("\n")}\nRewrite them so that a text can be matched in one way only, without assertions, or keep the exceptions in scripts/expressions.ts.\n`,
  );
  process.exitCode = 1;
}
