import { expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';

const lines: string[] = [];
const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });

test('an error of the database is logged without the values of rows', () => {
  const ofDriver = (message: string) =>
    Object.assign(new Error(message), {
      code: '23505',
      sql: 'insert into tasks values (?)',
      bindings: ['berth 7'],
      detail: 'Key (client_ref)=(berth 7) already exists.',
      where: 'COPY tasks, line 1: "berth 7"',
    });
  logger.warn({ err: ofDriver('one failed') }, 'failed');
  logger.warn({ err: new AggregateError([ofDriver('one of two failed')], 'two failed') }, 'failed');
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).not.toContain('berth 7');
    expect(line).toMatch(/one (of two )?failed.*23505.*insert into tasks/s);
  }
});
