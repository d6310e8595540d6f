/** Bridle's loop, for `turns.mjs`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent, createTrace, defineTool } from 'bridle';
import { anthropicModel } from 'bridle/models';
import { MODEL, measureLoop, TOOL, weather } from './turns-child.mjs';

await measureLoop(async ({ url, mode, cap }) => {
  const tool = defineTool({ ...TOOL, annotations: { readOnlyHint: true } }, weather);
  const agent = await createAgent({
    model: anthropicModel(MODEL, { baseURL: url }),
    tools: [tool],
    permissions: { allow: [TOOL.name] },
    limits: { turns: cap, toolCalls: cap * 3 },
  });
  const folder = mode === 'durable' ? mkdtempSync(join(tmpdir(), 'bridle-bench-')) : undefined;
  if (folder) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  let run = 0;
  return async (prompt) => {
    const journal = {
      dir: folder,
      run: `bench-${run++}`,
      agent: 'bench',
      model: MODEL,
      task: prompt,
      sync: 'every_line',
    };
    const trace = folder && (await createTrace(journal));
    const result = await agent.run(prompt, trace ? { trace } : {}).result;
    await trace?.close();
    return result.end === 'answered' ? result.text : JSON.stringify(result.error ?? result.end);
  };
});
