const KIND =
  "Council|County|Department|District|Division|Emirate|Governorate|Krai|Municipality|Oblast|Parish|" +
  "Prefecture|Province|Quarter|Region|State|Voivodeship|Zone";

const TITLE = new RegExp(
  `\\s(?:${KIND})$|^(?:Autonomous Region|Canton|Federal Dependencies|Parish|Province) of\\s`,
  "u",
);

/** English words in names that other languages translate, or take over whole as a proper name: Rhode Island. */
const WORD =
  /\s(?:Area|Atoll|Bay|Capital|City|Coast|Highlands|Hills|Islands?|Lakes?|Peninsula|Territor(?:y|ies)|Valley)$/u;

/**
 * Whether a name is English: one with an English word for what kind of division it is, such as
 * `Adana Province`, which machines have put into CLDR's provisional names of many languages, or the
 * English name itself with an English word for an island, a coast or a city.
 */
export function isEnglishTitle(name: string, english: string): boolean {
  return TITLE.test(name) || (name === english && WORD.test(name));
}
