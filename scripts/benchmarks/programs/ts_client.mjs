// The TypeScript SDK's client, a whole run: `ts_client.mjs SDK CHILD…`. Prints JSON: seconds of the prompt, characters.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

const [sdk, ...child] = process.argv.slice(2);
const acp = await import(sdk);
const agent = spawn(child[0], child.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const { agent: theirs, client: own } = acp.methods;
const pieces = [];
await acp
  .client({ name: "bench" })
  .onNotification(own.session.update, (ctx) => void pieces.push(ctx.params.update.content.text))
  .onRequest(own.session.requestPermission, () => ({ outcome: { outcome: "selected", optionId: "yes" } }))
  .connectWith(stream, async (ctx) => {
    await ctx.request(theirs.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    const session = await ctx.request(theirs.session.new, { cwd: "/", mcpServers: [] });
    const prompt = [{ type: "text", text: "go" }];
    const began = performance.now();
    await ctx.request(theirs.session.prompt, { sessionId: session.sessionId, prompt });
    const seconds = (performance.now() - began) / 1000;
    console.log(JSON.stringify({ prompt_seconds: seconds, answered: pieces.join("").length }));
  });
agent.stdin.end();
