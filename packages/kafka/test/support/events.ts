import { z } from 'zod';
import { defineEvent } from '@vision/contracts/envelope';

export const topic = 'test.things.v1';
export const thingChanged = defineEvent({
  type: 'test.thing.changed.v1',
  topic,
  schema: z.object({ thing: z.string(), version: z.int() }),
});

/** A change of a thing, ready to be appended or published. */
export const changed = (thing: string, version: number) => ({
  ...thingChanged,
  key: thing,
  source: 'test',
  data: { thing, version },
});
