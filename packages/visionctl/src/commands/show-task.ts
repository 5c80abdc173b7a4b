import { z } from 'zod';
import type { Command } from '../command.ts';
import { facts, table } from '../table.ts';

const part = z.record(z.string(), z.unknown());
const shown = z.object({
  task_id: z.string(),
  facts: z.record(z.string(), part),
  timeline: z.array(z.object({ at: z.string(), source: z.string(), what: z.string(), details: part })),
  unreachable: z.array(z.string()),
});

export const showTaskCommand: Command = {
  name: 'show',
  args: [{ name: 'task_id', summary: 'a task or an image call' }],
  summary: 'show the whole history of a task, in order of time; exit code 1 when a service did not answer',
  run: async ({ admin, args }) => {
    const path = `/admin/v1/tasks/${encodeURIComponent(args['task_id'] ?? '')}`;
    const value = await admin.call(shown, { method: 'GET', path });
    const sections = Object.entries(value.facts).map(([service, known]) => `${service}\n${indented(facts(known))}`);
    const text = [
      ...sections,
      'timeline',
      indented(table(['at', 'source', 'what', 'details'], value.timeline)),
      ...value.unreachable.map((service) => `${service} did not answer: visionctl doctor shows why`),
    ];
    return { value, text: text.join('\n'), exitCode: value.unreachable.length === 0 ? 0 : 1 };
  },
};

const indented = (text: string) => text.replaceAll(/^/gm, '  ');
