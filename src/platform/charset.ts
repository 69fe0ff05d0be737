/** Whether a media type names no charset but UTF-8, with or without spaces around its signs. */
export function isUtf8(mediaType: string): boolean {
  return parametersOf(mediaType).every(
    ([name, charset]) => name !== "charset" || UTF_8.test(charset),
  );
}

/** The media type without parameters, if its only one is the charset UTF-8. */
export function withoutUtf8(mediaType: string): string {
  const [[name] = [""], ...others] = parametersOf(mediaType);
  const isAlone = name === "charset" && others.length === 0 && isUtf8(mediaType);
  return isAlone ? mediaType.replace(/;.*/, "").trim() : mediaType;
}

const UTF_8 = /^(?:utf-?8|"utf-?8")$/i;

/** Parameters by name in lower case, with their values unchanged. */
function parametersOf(mediaType: string): (readonly [name: string, value: string])[] {
  const [, ...parameters] = mediaType.split(";");
  return parameters.map((parameter) => {
    const [name = "", ...value] = parameter.split("=");
    return [name.trim().toLowerCase(), value.join("=").trim()];
  });
}
