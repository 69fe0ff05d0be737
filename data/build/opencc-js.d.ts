declare module "opencc-js" {
  /** Converts between scripts and regional characters: `cn` simplified, `t` traditional, `tw` Taiwan's. */
  export function Converter(options: {
    readonly from: "cn" | "t" | "tw";
    readonly to: "cn" | "t" | "tw";
  }): (text: string) => string;
}
