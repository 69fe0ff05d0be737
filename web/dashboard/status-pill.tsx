/** The tones of words. Others are neutral. */
const TONES = {
  good: "pass succeeded published verified complete done resolved inactive",
  warn: "warn unverified pending nodata incomplete refused halted",
  bad: "fail failed firing damaged",
  busy: "running queued",
};

/** Shows a state as a word, with a sign and a color that the style sheet has. */
export function StatusPill({ word }: { word: string }) {
  const tone = Object.entries(TONES).find(([, words]) => words.split(" ").includes(word))?.[0];
  return <span class={`pill tone-${tone}`}>{word.replaceAll("_", " ")}</span>;
}
