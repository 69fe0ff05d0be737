/** How languages write their letters in ASCII: published slugs derive from it. Pure and frozen. */

/** Letters and what stands for them, in the order in which they are replaced in a lower-case text. */
export type Spelling = readonly (readonly [letters: string, ascii: string])[];

/** Reads pairs such as `щ:shch`, with spaces between them. */
function spelling(text: string): Spelling {
  return text.split(" ").map((pair) => {
    const [letters = "", ascii = ""] = pair.split(":");
    return [letters, ascii];
  });
}

const DANISH = spelling("æ:ae ø:oe å:aa");
const SERBIAN = spelling("ц:c ч:c ж:z ш:s х:h џ:dz ѓ:gj ќ:kj ѕ:dz");

/** Where a language's spelling differs from that of its script. */
const SPELLINGS: { readonly [language: string]: Spelling } = {
  az: spelling("ı:i ə:e"),
  be: spelling("г:h"),
  bg: spelling("щ:sht ъ:a х:h ь:y"),
  da: DANISH,
  de: spelling("ä:ae ö:oe ü:ue ß:ss"),
  el: spelling(
    "ά:α έ:ε ή:η ί:ι ό:ο ύ:υ ώ:ω ΐ:ϊ ΰ:ϋ ου:ou αι:ai ει:ei οι:oi αυ:av ευ:ev μπ:b γγ:ng",
  ),
  hy: spelling("ու:u և:ev"),
  mk: SERBIAN,
  no: DANISH,
  sr: SERBIAN,
  tr: spelling("ı:i"),
  uk: spelling("г:h ґ:g и:y ї:yi є:ye"),
  uz: spelling("ʻ:-"),
};

/** The letters of the scripts besides Latin whose transliteration a reader recognizes. */
export const LETTERS: Spelling = [
  ...spelling("а:a б:b в:v г:g ґ:g ѓ:g д:d ђ:dj е:e ё:e є:ie ж:zh з:z и:i й:y і:i ї:i ј:j к:k ќ:k"),
  ...spelling(
    "л:l љ:lj м:m н:n њ:nj о:o п:p р:r с:s т:t ћ:c у:u ў:u ф:f х:kh ц:ts ч:ch џ:dzh ш:sh",
  ),
  ...spelling("щ:shch ъ: ы:y ь: э:e ю:yu я:ya"),
  ...spelling(
    "α:a β:v γ:g δ:d ε:e ζ:z η:i θ:th ι:i ϊ:i κ:k λ:l μ:m ν:n ξ:x ο:o π:p ρ:r σ:s ς:s τ:t",
  ),
  ...spelling("υ:y ϋ:y φ:f χ:ch ψ:ps ω:o"),
  ...spelling(
    "ա:a բ:b գ:g դ:d ե:e զ:z է:e ը:y թ:t ժ:zh ի:i լ:l խ:kh ծ:ts կ:k հ:h ձ:dz ղ:gh ճ:ch մ:m",
  ),
  ...spelling("յ:y ն:n շ:sh ո:o չ:ch պ:p ջ:j ռ:rr ս:s վ:v տ:t ր:r ց:ts ւ:w փ:p ք:k օ:o ֆ:f"),
  ...spelling(
    "ა:a ბ:b გ:g დ:d ე:e ვ:v ზ:z თ:t ი:i კ:k ლ:l მ:m ნ:n ო:o პ:p ჟ:zh რ:r ს:s ტ:t უ:u ფ:p",
  ),
  ...spelling("ქ:k ღ:gh ყ:q შ:sh ჩ:ch ც:ts ძ:dz წ:ts ჭ:ch ხ:kh ჯ:j ჰ:h"),
];

/** Returns what a locale's language spells in another way than its script. */
export function spellingOf(locale: string): Spelling {
  return SPELLINGS[locale.split("-")[0] ?? ""] ?? [];
}
