// Routes a prompt, runs a guarded loop, and shows the journal:
//
//     node example.js "Create a branch for the login feature"
//
// SIGNALBOX_TARGET says where signalbox is (127.0.0.1:50051 if absent).

import { call, connect } from "./client.js";

const prompt = process.argv.slice(2).join(" ") || "Create a branch for the login feature";
const signalbox = connect(process.env.SIGNALBOX_TARGET);

const answer = await call(signalbox.route, "Route", { prompt });
console.log(`${answer.decision.outcome}: ${answer.decision.reason}`);
for (const match of answer.matches.slice(0, 3)) {
  console.log(`  ${match.score.toFixed(2)} ${match.entry.name}`);
}

const created = await call(signalbox.loop, "CreateLoop", {
  input: prompt,
  tools: [{ name: "run_command" }, { name: "delete_repository" }],
  config: { tool_profile: { exclude: ["delete_*"] } },
});
const { loop_id } = created.loop;
console.log(`sees ${created.tools.kept.map((tool) => tool.name)}`);
for (let iteration = 1; iteration <= 10; iteration++) {
  const failed = {
    tool: "run_command",
    arguments: '{"command":"git push"}',
    output: "remote rejected the push",
    outcome: "CALL_OUTCOME_FAILED",
  };
  const { verdict } = await call(signalbox.loop, "ReportStep", {
    loop_id,
    step: { iteration, calls: [failed] },
  });
  console.log(`turn ${iteration}: ${verdict.decision} ${verdict.text}`);
  if (verdict.decision === "GUARD_DECISION_STOP") break;
}
const closed = await call(signalbox.loop, "CloseLoop", { loop_id });
console.log(`ended: ${closed.loop.terminated.reason}`);

for await (const message of signalbox.journal.StreamEvents({ loop_id, replay_only: true })) {
  for (const entry of message.events?.entries ?? []) {
    console.log(`  ${entry.sequence} ${entry.event.event}`);
  }
}
signalbox.close();
