/** Right-to-left languages: those of the snapshot and their relatives. */
const RIGHT_TO_LEFT = new Set(["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"]);

/** Returns the text direction of a locale's names. */
export function textDirection(locale: string): "ltr" | "rtl" {
  const [language = ""] = locale.split("-");
  return RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr";
}
