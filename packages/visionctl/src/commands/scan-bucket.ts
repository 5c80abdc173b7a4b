import { scanObjects } from '@vision/contracts/objects';
import type { MissingObject } from '@vision/contracts/objects';
import type { Command } from '../command.ts';
import { table } from '../table.ts';

const SERVICES = ['tasks', 'images', 'results'] as const;

/** Reads every row that names an object, so it may take long; nothing is changed. */
export const scanCommand: Command = {
  name: 'scan',
  options: { service: { value: 'service', summary: 'only rows of this service', choices: SERVICES } },
  summary: 'find rows whose object is missing in the bucket; exit code 1 when there are any',
  run: async ({ admin, options, progress }) => {
    const missing: (MissingObject & { service: string })[] = [];
    let checked = 0;
    for (const service of SERVICES.filter((one) => options['service'] === undefined || options['service'] === one)) {
      let after = '';
      do {
        const json = { service, after };
        const page = await admin.call(scanObjects.reply, { method: 'POST', path: '/admin/v1/bucket/scan', json });
        checked += page.checked;
        missing.push(...page.missing.map((object) => ({ service, ...object })));
        after = page.next_cursor;
        progress(`${service}: ${checked} objects, ${missing.length} missing`);
      } while (after !== '');
    }
    const sum = `${checked} objects, ${missing.length} missing`;
    const text = missing.length === 0 ? sum : `${sum}\n${table(['service', 'task_id', 'object_key'], missing)}`;
    return { value: { checked, missing }, text, exitCode: missing.length === 0 ? 0 : 1 };
  },
};
