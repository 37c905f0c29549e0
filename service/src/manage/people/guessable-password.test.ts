import { expect, test } from "vitest";
import { isGuessablePassword } from "./guessable-password.ts";

const COMMON = [
  ...[
    "password1234",
    "Password2024!",
    "P@ssw0rd1234!",
    "passwordpassword",
    "Welcome12345!",
    "qwertyuiop12",
    "1q2w3e4r5t6y",
  ],
  ...[
    "123456789012",
    "112233445566",
    "abcdefghijkl",
    "aaaaaaaaaaaa",
    "abcabcabcabc",
    "iloveyou1234",
    "Administrator1",
  ],
  ...[
    "letmein-2026!",
    "Summer2026!!!",
    "qwerty123456",
    "changeme1234",
    "monkey.dragon.12",
    "1qaz2wsx3edc",
    "zxcvbnm,./123",
  ],
  ...["correcthorsebatterystaple", "mike1234567890", "purser-admin-1", "Passw0rdPassw0rd"],
];

test.each(COMMON)("the common password %s is rejected", (password) => {
  expect(isGuessablePassword(password)).toBe(true);
});

const OWN = [
  ...[
    "seven-green-kettles",
    "eight-blue-teapots",
    "x7Qp-92_4kZw",
    "tk4-91x-33q7-b",
    "9f3a1c2b7d1e",
    "Ulmen&Birken am Hang",
  ],
  ...["planted-password-of-the-owner", "vier Löffel Zimt", "монета на полке", "olga-has-a-long-password"],
];

test.each(OWN)("the password %s is accepted", (password) => {
  expect(isGuessablePassword(password)).toBe(false);
});

test("parts of the email make a password easier to guess", () => {
  expect(isGuessablePassword("lovelace-1815-55")).toBe(false);
  expect(isGuessablePassword("lovelace-1815-55", ["lovelace"])).toBe(true);
});

test("checking a password is fast, whatever its characters", () => {
  // This character expands to 18 characters, so 200 of them become 3,600 characters.
  const expanding = `${"\uFDFA".repeat(199)}x`;
  const texts = ["1qaz".repeat(50), "a b".repeat(66), "q1w2e3r4t5".repeat(20), "x7Qp".repeat(50), expanding];
  const tookMs = texts.map((text) => {
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now();
      isGuessablePassword(text);
      return performance.now() - start;
    });
    return Math.min(...times);
  });
  expect(Math.max(...tookMs)).toBeLessThan(20);
});

test("only the beginning of a password that expands under NFKC is checked", () => {
  expect(isGuessablePassword(`seven-green-kettles${"\uFDFA".repeat(181)}`)).toBe(false);
  expect(isGuessablePassword(`${"a".repeat(200)}seven-green-kettles`)).toBe(true);
});
