const KIND =
  "Capital Territory|Council|County|Department|District|Division|Emirate|Governorate|Krai|Municipality|Oblast|Parish|" +
  "Prefecture|Province|Quarter|Region|Regional Corporation|State|Voivodeship|Zone";

const TITLE = new RegExp(
  `\\s(?:${KIND})$|^(?:Autonomous Region|Canton|Federal Dependencies|Parish|Province) of\\s`,
  "u",
);

/** English words in names that other languages translate, or take over whole as a proper name: Rhode Island. */
const WORD =
  /\s(?:Area|Atoll|Bay|Capital|City|Coast|Highlands|Hills|Islands?|Lakes?|Peninsula|Territor(?:y|ies)|Valley)$/u;

/** English words that no other language of the names has, in the middle of a name too: `Southern Bölgesi`. */
const FOREIGN = /(?:^|\s)(?:(?:North|South|East)(?:ern)?|Western|Highlands|and)(?=\s|$)/u;

/** Countries whose own names other languages take over: North Dakota, Western Australia. */
const ENGLISH_NAMES: ReadonlySet<string> = new Set(["AU", "CA", "GB", "IE", "NZ", "US", "ZA"]);

/**
 * Whether a name is English: one with an English word for what kind of division it is, such as
 * `Adana Province`, which machines have put into CLDR's provisional names of many languages, or the
 * English name itself with an English word for an island, a coast or a city, or one with an
 * English direction, which only the names of English-speaking countries have.
 */
export function isEnglishTitle(name: string, english: string, country: string): boolean {
  return (
    TITLE.test(name) ||
    (name === english && WORD.test(name)) ||
    (!ENGLISH_NAMES.has(country) && FOREIGN.test(name))
  );
}
