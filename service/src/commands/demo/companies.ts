/** A customer of the demo's product. Days count back from today. */
export type Company = {
  readonly id: string;
  /** Random seed. Each company has a different seed, so that editing one company does not change the others. */
  readonly seed: number;
  readonly name: string;
  readonly email: string;
  readonly joined: number;
  /** Null for a random value. */
  readonly joinedTime: string | null;
  /** Requests on a working day. */
  readonly perDay: number;
  /** Plans assigned by billing. At all other times, the default plan applies. */
  readonly plans: readonly PlanStep[];
  /** The days on which the company buys credits. */
  readonly packs: readonly number[];
};

export type PlanStep = {
  readonly plan: "pro" | "scale";
  readonly day: number;
  readonly lastsDays: number | null;
};

/** Always has credits and no limit, because the printed `curl` command charges this customer. */
export const RICH_COMPANY = "org_1001";
export const TWICE_CHARGED = "org_1009";
export const LIMITED = "org_1012";
export const WRONGLY_CREDITED = "org_1014";
export const PAID_IN_VAIN = "org_1031";
export const REVERSED = "org_1017";
export const APOLOGIZED_TO = "org_1004";
/** Requests a feature that does not exist. */
export const EAGER = "org_1003";
/** Sometimes reuses a key for another request. */
export const CARELESS = "org_1005";

/** Invented names; `.example` is a reserved domain. */
export const COMPANIES: readonly Company[] = [
  company(1001, "Halcyon Studio", "maren@halcyon", { joined: 59, perDay: 4, plans: [scale(59)] }),
  company(1002, "Juniper & Vale", "ops@junipervale", { joined: 59, perDay: 3, plans: [scale(58)] }),
  company(1003, "Tessera Games", "lin@tessera", { joined: 58, perDay: 3.5, plans: [scale(58)] }),
  company(1004, "Polder Publishing", "joost@polder", {
    joined: 57,
    perDay: 2.5,
    plans: [pro(57), scale(33)],
  }),
  company(1005, "Sable Interactive", "dev@sable", { joined: 56, perDay: 3, plans: [scale(55)] }),
  company(1006, "Kestrel Media", "priya@kestrelmedia", {
    joined: 44,
    perDay: 3,
    plans: [pro(44), scale(21)],
  }),
  company(1007, "Ostara Commerce", "tech@ostara", {
    joined: 59,
    perDay: 1.8,
    plans: [pro(59)],
    packs: [31, 6],
  }),
  company(1008, "Quillon Legal", "h.adeyemi@quillon", { joined: 59, perDay: 1.2, plans: [pro(59)] }),
  company(1009, "Fernweh Films", "studio@fernweh", {
    joined: 58,
    perDay: 0.8,
    plans: [pro(58)],
    packs: [44],
  }),
  company(1010, "Cobalt Tutors", "ana@cobalttutors", { joined: 58, perDay: 1.4, plans: [pro(57)] }),
  company(1011, "Marrow & Pine", "hello@marrowpine", { joined: 57, perDay: 0.9, plans: [pro(55, 30)] }),
  company(1012, "Brightpath Learning", "it@brightpath", {
    joined: 55,
    perDay: 0.7,
    plans: [pro(55)],
    joinedTime: "06:48:12.330",
  }),
  company(1013, "Larkspur Health", "sofia@larkspur", {
    joined: 54,
    perDay: 1.6,
    plans: [pro(54)],
    packs: [12],
  }),
  company(1014, "Northlight Labs", "admin@northlightlabs", { joined: 53, perDay: 1, plans: [pro(53)] }),
  company(1015, "Velo Atelier", "bram@veloatelier", {
    joined: 52,
    perDay: 1.1,
    plans: [pro(45, 31), pro(15, 31)],
  }),
  company(1016, "Cinder Labs", "root@cinderlabs", {
    joined: 50,
    perDay: 2.2,
    plans: [pro(50)],
    packs: [40, 24, 9],
  }),
  company(1017, "Mistral Maps", "chloe@mistralmaps", {
    joined: 49,
    perDay: 1,
    plans: [pro(47)],
    packs: [28],
  }),
  company(1018, "Ember & Oak", "shop@emberoak", { joined: 46, perDay: 0.8, plans: [pro(40)] }),
  company(1019, "Harbor Analytics", "data@harboranalytics", { joined: 41, perDay: 1.5, plans: [pro(41)] }),
  company(1020, "Solstice Travel", "noor@solstice", { joined: 36, perDay: 1.2, plans: [pro(30)] }),
  company(1021, "Papercrane", "kenji@papercrane", { joined: 27, perDay: 1.4, plans: [pro(22)], packs: [4] }),
  company(1022, "Gantry Works", "procurement@gantry", { joined: 13, perDay: 1.8, plans: [pro(13)] }),
  company(1023, "Opaline Beauty", "mila@opaline", { joined: 6, perDay: 1.6, plans: [scale(6, 20)] }),
  company(1024, "Tern Weather", "eilidh@tern", { joined: 59, perDay: 0.7 }),
  company(1025, "Basil Kitchen", "carlo@basilkitchen", { joined: 58, perDay: 0.4 }),
  company(1026, "Oddfellow Comics", "ink@oddfellow", { joined: 57, perDay: 0.9, packs: [35] }),
  company(1027, "Peregrine Post", "desk@peregrinepost", { joined: 54, perDay: 0.6 }),
  company(1028, "Glasswing", "team@glasswing", { joined: 51, perDay: 0.5 }),
  company(1029, "Thimble Crafts", "ruth@thimble", { joined: 47, perDay: 0.3 }),
  company(1030, "Ursa Podcasts", "leo@ursapods", { joined: 43, perDay: 0.8 }),
  company(1031, "Northlight Robotics", "finance@northlightrobotics", { joined: 40, perDay: 0.2 }),
  company(1032, "Clover Vet Clinic", "office@clovervet", { joined: 38, perDay: 0.3 }),
  company(1033, "Minuet Music School", "elise@minuet", { joined: 33, perDay: 0.5 }),
  company(1034, "Riverbend Realty", "sales@riverbend", { joined: 29, perDay: 0.7 }),
  company(1035, "Zephyr Bikes", "tomas@zephyrbikes", { joined: 24, perDay: 0.6 }),
  company(1036, "Alder Schools Trust", "ict@alder", { joined: 19, perDay: 0.9 }),
  company(1037, "Pinhole Photo", "yuki@pinhole", { joined: 14, perDay: 0.8 }),
  company(1038, "Saffron Events", "zara@saffron", { joined: 9, perDay: 1 }),
  company(1039, "Lantern Library", "desk@lanternlibrary", { joined: 5, perDay: 0.9 }),
  company(1040, "Kiln Ceramics", "oskar@kiln", { joined: 2, perDay: 1.2 }),
];

type Life = Pick<Company, "joined" | "perDay"> & Partial<Pick<Company, "joinedTime" | "plans" | "packs">>;

function company(number: number, name: string, mailbox: string, life: Life): Company {
  return {
    id: `org_${number}`,
    seed: number,
    name,
    email: `${mailbox}.example`,
    joinedTime: null,
    plans: [],
    packs: [],
    ...life,
  };
}

function pro(day: number, lastsDays: number | null = null): PlanStep {
  return { plan: "pro", day, lastsDays };
}

function scale(day: number, lastsDays: number | null = null): PlanStep {
  return { plan: "scale", day, lastsDays };
}
