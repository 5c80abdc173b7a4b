import { expect, test } from '@jest/globals';
import { z } from 'zod';
import * as frameEvents from './frame-events.ts';
import * as imageEvents from './image-events.ts';
import * as images from './images.ts';
import * as quota from './quota.ts';
import * as results from './results.ts';
import * as retention from './retention.ts';
import * as taskEvents from './task-events.ts';
import * as tasks from './tasks.ts';

const modules = { frameEvents, imageEvents, images, quota, results, retention, taskEvents, tasks };

/** Schemas by which one of our services reads what another has sent. */
const received = Object.values(modules).flatMap((module) =>
  Object.entries(module).flatMap(([name, declared]: [string, unknown]) => {
    const { schema, params, query, body, reply } = declared as Record<string, unknown>;
    return Object.entries({ schema, params, query, body, reply })
      .filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType)
      .map(([part, read]) => [`${name} (${part})`, read] as const);
  }),
);

test('questions and events are found', () => {
  const names = received.map(([name]) => name);
  expect(names).toEqual(
    expect.arrayContaining(['reserveUnits (body)', 'taskChanged (schema)', 'getImageCall (reply)']),
  );
});

test.each(received)('%s ignores what a later version may add', (_name, schema) => {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  expect(text).not.toContain('"additionalProperties":false');
});
