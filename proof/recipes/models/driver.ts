// Asks one question with a recipe: `driver.ts openai CUSTOMER MESSAGE [TOKENS]`. Prints each token on a line, and the
// settlement to standard error. Cancels after TOKENS tokens.
const [, , recipe = "", customerId = "", messageId = "", cancelAfter = "Infinity"] = process.argv;
const { chat } = (await import(
  `../../../docs/recipes/${recipe}/chat.ts`
)) as typeof import("../../../docs/recipes/ai-sdk/chat.ts");

const user = new AbortController();
let tokens = 0;
const ended = await chat(
  { customerId, messageId, prompt: "Tell me a story.", signal: user.signal },
  (text) => {
    console.log(text);
    tokens += 1;
    if (tokens === Number(cancelAfter)) user.abort();
  },
);
console.error(JSON.stringify(ended));
