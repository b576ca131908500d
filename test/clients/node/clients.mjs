// Runs the official clients against a gateway and prints what they met, as JSON.
// usage: node clients.mjs openai|anthropic BASE_URL KEY
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";

const [which, url, key] = process.argv.slice(2);
const seen = {};
const met = async (name, run) => {
  const began = Date.now();
  try {
    seen[name] = { ok: await run() };
  } catch (e) {
    seen[name] = { status: e.status ?? 0, type: e.type ?? e.error?.type ?? "", error: String(e.message).slice(0, 200) };
  }
  seen[name].ms = Date.now() - began;
};

if (which === "openai") {
  const client = new OpenAI({ baseURL: url + "/v1", apiKey: key });
  const ask = { model: "gpt-4o", messages: [{ role: "user", content: "Say five words" }] };
  await met("chat", async () => (await client.chat.completions.create(ask)).choices[0].message.content);
  const stream = async (more) => {
    let text = "";
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true, ...more })) {
      text += more ? (chunk.choices[0]?.delta?.content ?? "") : (chunk.choices[0].delta.content ?? "");
      if (chunk.usage) text += "|" + chunk.usage.completion_tokens;
    }
    return text;
  };
  await met("stream", () => stream());
  await met("usage", () => stream({ stream_options: { include_usage: true } }));
  await met("response", async () => (await client.responses.create({ model: "gpt-4o", input: "Say five words" })).output_text);
  await met("embedding", async () => (await client.embeddings.create({ model: "text-embedding-3-small", input: "a fox", encoding_format: "float" })).data.length);
  // The rest goes by the provider's script.
  await met("limited", async () => (await client.chat.completions.create(ask)).choices[0].message.content);
  await met("spent", async () => (await client.chat.completions.create(ask)).choices[0].message.content);
  await met("error", () => stream());
  await met("broken", () => stream());
} else {
  const client = new Anthropic({ baseURL: url, apiKey: key });
  const ask = { model: "claude-x", max_tokens: 50, messages: [{ role: "user", content: "Say five words" }] };
  await met("message", async () => (await client.messages.create(ask)).content[0].text);
  const stream = async () => {
    const m = await client.messages.stream(ask).finalMessage();
    return m.content[0].text + "|" + m.usage.output_tokens;
  };
  await met("stream", stream);
  await met("limited", async () => (await client.messages.create(ask)).content[0].text);
  await met("error", stream);
  await met("broken", stream);
}
console.log(JSON.stringify(seen));
