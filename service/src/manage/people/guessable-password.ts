/**
 * Common parts of passwords. Each part also covers its variants: with added digits, years or symbols, doubled, or with digits instead
 * of letters.
 */
const COMMON_WORDS = `
  password passwort passwd passphrase passw pass motdepasse contrasena senha parola wachtwoord haslo salasana losenord
  admin administrator administrador root user username guest login logon signin welcome willkommen bienvenue letmein opensesame
  changeme change default temporary temp secret geheim master access demo test testing tester sample example purser dashboard
  database postgres postgresql server service system network internet computer laptop windows linux ubuntu debian docker
  kubernetes google facebook twitter instagram linkedin microsoft apple amazon samsung android iphone github gitlab
  company business office customer support manager engineer developer staging production prod dev qwerty qwertz azerty
  iloveyou iloveu loveyou love lover lovely forever sweetheart darling baby babygirl babyboy honey sugar princess prince angel
  queen king beautiful gorgeous sunshine rainbow flower butterfly chocolate cookie cheese banana orange cherry strawberry
  monkey dragon tiger lion eagle falcon phoenix wolf panther shadow ninja warrior hunter killer ranger pirate wizard merlin
  batman superman spiderman ironman starwars skywalker yoda pokemon pikachu naruto matrix gandalf hobbit hogwarts harrypotter
  football soccer baseball basketball hockey tennis golf chelsea liverpool arsenal barcelona realmadrid juventus manchester
  united cowboys yankees lakers steelers patriots eagles jordan michael jennifer jessica ashley nicole daniel andrew joshua
  matthew robert thomas charlie george william jackson michelle amanda samantha maggie ginger buster tigger bailey pepper
  snoopy lucky happy smile hello goodbye hola bonjour summer winter spring autumn january february march april june july august
  september october november december monday tuesday wednesday thursday friday saturday sunday london paris berlin
  madrid newyork america canada germany france england espana italia brasil mexico india china russia australia freedom
  liberty peace jesus jesuschrist christ blessed heaven church money dollar million rich lottery poker casino diamond golden silver
  platinum mercedes porsche ferrari lamborghini corvette mustang yamaha harley honda toyota trustno whatever nothing
  something anything asshole fuckyou fuck bitch bullshit pussy sexy player gamer minecraft fortnite zelda mario sonic
  counterstrike callofduty metallica nirvana slipknot eminem guitar music rock star stars moon universe galaxy planet earth
  family mother father mommy daddy brother sister friend friends bestfriend school college student teacher university
  correcthorsebatterystaple correct horse battery staple abc zxc asd qaz`
  .trim()
  .split(/\s+/)
  .sort((a, b) => b.length - a.length);

/** Sequences of letters, digits and adjacent keys. */
const WALKS = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890",
  "qwertyuiop",
  "qwertzuiop",
  "azertyuiop",
  "asdfghjkl",
  "zxcvbnm",
  "yxcvbnm",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
  "qazwsxedcrfvtgbyhnujmikolp",
  "qweasdzxc",
  "147258369",
  "159357",
].flatMap((walk) => [walk, [...walk].reverse().join("")]);
const WALK_LENGTH_MIN = 3;
/** The suffixes of all sequences, by their first characters. */
const WALKS_FROM = indexWalks();

const LETTERS: Readonly<Record<string, string>> = {
  "0": "o",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "8": "b",
  "9": "g",
  "@": "a",
  $: "s",
  "!": "i",
  "|": "l",
};

/** Minimum number of characters that a password needs besides common parts. */
const OWN_LETTERS_MIN = 4;
const OWN_CHARACTERS_MIN = 6;
const DISTINCT_MIN = 5;
const WORDS_MIN = 3;
/** Maximum number of characters checked. NFKC can expand one character to 18, and a password can have 200 characters. */
const JUDGED_LENGTH_MAX = 200;

/**
 * Whether the password is likely to be in a list of common passwords and their usual variations. Uses no network. `own` contains words
 * about the member, such as the email.
 */
export function isGuessablePassword(password: string, own: readonly string[] = []): boolean {
  const text = password.normalize("NFKC").toLowerCase().slice(0, JUDGED_LENGTH_MAX);
  if (new Set(text).size < DISTINCT_MIN || isRepetition(text)) return true;
  const ownWords = own.map((word) => word.toLowerCase()).filter(({ length }) => length > 2);
  const core = text.replace(/^\P{L}+|\P{L}+$/gu, "");
  const spellings = [text, text.replace(/(.)\1+/gu, "$1"), toLetters(core, "i"), toLetters(core, "l")];
  return [...new Set(spellings)].some((spelling) => isPredictable(spelling, ownWords));
}

function isRepetition(text: string): boolean {
  return /^(.{1,6}?)\1+$/su.test(text);
}

function toLetters(text: string, one: "i" | "l"): string {
  return [...text].map((character) => (character === "1" ? one : (LETTERS[character] ?? character))).join("");
}

/** Removes common words, sequences, years and repetitions, and checks whether too little is left. */
function isPredictable(text: string, own: readonly string[]): boolean {
  const found = new Set<string>();
  let rest = text;
  for (const word of [...own, ...COMMON_WORDS]) {
    if (!rest.includes(word)) continue;
    // All parts of the member's email are treated as one known word.
    found.add(own.includes(word) ? "" : word);
    rest = rest.replaceAll(word, " ");
  }
  rest = withoutWalks(rest)
    .replace(/(19|20)\d\d/g, " ")
    .replace(/(.)\1{2,}/gu, " ");
  const letters = rest.match(/\p{L}/gu)?.length ?? 0;
  const digits = rest.match(/\p{N}/gu)?.length ?? 0;
  if (found.size >= WORDS_MIN) return false;
  return found.size > 0 ? letters < OWN_LETTERS_MIN : letters + digits < OWN_CHARACTERS_MIN;
}

function withoutWalks(text: string): string {
  let rest = "";
  for (let at = 0; at < text.length; ) {
    const walks = WALKS_FROM.get(text.slice(at, at + WALK_LENGTH_MIN)) ?? [];
    const length = Math.max(0, ...walks.map((walk) => commonLength(text, at, walk)));
    rest += length > 0 ? " " : text.slice(at, at + 1);
    at += length > 0 ? length : 1;
  }
  return rest;
}

/** Returns how many characters of `text`, starting at `at`, match the sequence. */
function commonLength(text: string, at: number, walk: string): number {
  let length = WALK_LENGTH_MIN;
  while (length < walk.length && text[at + length] === walk[length]) length += 1;
  return length;
}

function indexWalks(): Map<string, string[]> {
  const index = new Map<string, string[]>();
  for (const walk of WALKS) {
    for (let at = 0; at + WALK_LENGTH_MIN <= walk.length; at++) {
      const start = walk.slice(at, at + WALK_LENGTH_MIN);
      index.set(start, [...(index.get(start) ?? []), walk.slice(at)]);
    }
  }
  return index;
}
