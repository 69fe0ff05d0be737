/** Languages of the snapshot and their kin that are written from right to left. */
const RIGHT_TO_LEFT = new Set(["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"]);

/** Direction in which names of a locale are written. */
export function textDirection(locale: string): "ltr" | "rtl" {
  const [language = ""] = locale.split("-");
  return RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr";
}
