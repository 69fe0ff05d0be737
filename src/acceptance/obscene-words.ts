/** Finds obscene words in names. Real places have such names (Condom), so an operator decides. Pure. */

/** In the languages of OurAirports' editors; whole words, with their usual forms. */
const OBSCENE =
  // English
  "arse arsehole ass asshole assholes bastard bastards bitch bitches blowjob bollocks bullshit clit " +
  "cock cocksucker condom cum cunt cunts dick dickhead dildo fag faggot faggots fuck fucked fucker " +
  "fuckers fuckin fucking handjob hitler homo intercourse jizz milf motherfucker nazi nazis nigga " +
  "nigger niggers penis piss pissed poop porn porno prick pussies pussy rape rapist retard retarded " +
  "scrotum sex sexy shit shithole shits shitty slut sluts suck sucker sucks tits titties twat vagina " +
  "wank wanker wankers whore whores " +
  // German
  "arsch arschloch fick ficken ficker fotze fotzen hure huren hurensohn kacke muschi nutte pimmel " +
  "pisse scheiss scheisse schlampe schwanz schwuchtel titten wichser " +
  // French
  "bordel chatte chienne connard connasse couille couilles cul encule enculer foutre merde " +
  "merdique nique niquer pede putain pute putes salaud salope " +
  // Spanish and Portuguese
  "bosta buceta cabron cabrones caralho chingada chinga cojones culo foda foder " +
  "gilipollas joder maricon mierda pendejo pendejos porra puta putas puto putos " +
  "verga viado " +
  // Italian
  "bastardo cazzo cazzi coglione coglioni culattone frocio minchia merda puttana stronza " +
  "stronzo troia vaffanculo " +
  // Dutch, Danish, Norwegian, Swedish and Finnish
  "eikel flikker fitta fisse helvete hoer hoeren horunge klootzak knulla kuk kutwijf " +
  "lul neuken paska perkele pikk tering vittu " +
  // Polish, Czech, Hungarian and Romanian
  "chuj chuja dupa hovno jebac jebany kokot kurva kurwa kurwy pierdol pierdole pizda " +
  "fasz geci picsa muie " +
  // Russian and Ukrainian, also in Latin letters
  "blyad blyat ebat huy khuy khuilo khuylo mudak pidor pizdec zalupa " +
  "блядь блять говно дерьмо ебать ебаный жопа залупа мудак пидор пидорас пизда пиздец сука хуй хуйло хуйня " +
  // Turkish
  "amcik amk gavat ibne orospu pezevenk siktir yarak yarrak " +
  // Indonesian, Malay and Tagalog
  "anjing bangsat kontol memek ngentot pepek puki putangina " +
  // Arabic, Persian, Hindi, Chinese, Japanese and Korean, as their editors write them
  "sharmuta sharmouta kosomak chutiya bhenchod madarchod randi " +
  "كس شرموطة کیر 傻逼 肏 屌 妈的 操你妈 くそ ちんこ まんこ 씨발 개새끼";

const OBSCENE_WORDS: ReadonlySet<string> = new Set(OBSCENE.split(" ").map(fold));

/** Prefixes of obscene words, folded (хуй is хуи). No name such as Shitara has one of them. */
const OBSCENE_STEM = /^(?:fuck|shit(?![aeiou])|hitler|fotze|хуи)/u;

/** Digits, and Cyrillic letters, that look like Latin ones. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  "0o 1i 3e 4a 5s 7t аa еe іi оo рp сc ѕs тt уy хx кk нh"
    .split(" ")
    .map(([from = "", to = ""]) => [from, to] as const),
);

export function gainsObscenity(name: string, known: readonly string[]): boolean {
  const before = new Set(known.flatMap(wordsOf));
  return wordsOf(name).some((word) => isObscene(word) && !before.has(word));
}

function isObscene(word: string): boolean {
  return OBSCENE_WORDS.has(word) || OBSCENE_STEM.test(word);
}

/** The words of a name in any script. Letters with a point between each count as one word. */
function wordsOf(name: string): string[] {
  const joined = fold(name).replace(/(?<!\p{L})\p{L}(?:\.\p{L}){2,}(?!\p{L})/gu, (letters) =>
    letters.replaceAll(".", ""),
  );
  return joined.split(/[^\p{L}\p{N}]+/u).map(withoutLookAlikes);
}

function withoutLookAlikes(word: string): string {
  if (!/\p{Script=Latin}/u.test(word)) return word;
  return word.replace(/[^a-z]/gu, (letter) => LOOK_ALIKES.get(letter) ?? letter);
}

function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss");
}
