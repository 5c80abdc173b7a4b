import { z } from 'zod';

/**
 * The form of an id that a caller chose or typed: 8-4-4-4-12 hexadecimal digits of any UUID version and variant, in the
 * lower-case form that it is compared by. This one rule holds from the gateway to the ledger.
 */
export const uuidForm = z.guid().toLowerCase();

/** The smallest id that can be made at this instant: a UUIDv7 begins with milliseconds (RFC 9562, section 5.7). */
export function firstIdAt(instant: Date): string {
  const hex = instant.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/**
 * The UTC day on which a task was created, read from its id: the first 48 bits of a UUIDv7 are Unix milliseconds
 * (RFC 9562 §5.7).
 * @returns `YYYY-MM-DD`; undefined for any other kind of id.
 */
export function dayOfTask(taskId: string): string | undefined {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(taskId)) return undefined;
  const createdAt = createdAtMsOf(taskId);
  // The largest 48-bit number is the year 10889, which Date can hold but whose ISO form has six digits.
  const day = new Date(createdAt).toISOString().slice(0, 10);
  return day.startsWith('+') ? undefined : day;
}

/** Unix milliseconds at which a task was created, by its UUIDv7. */
export const createdAtMsOf = (taskId: string): number => parseInt(taskId.slice(0, 8) + taskId.slice(9, 13), 16);

/** Path parameters of everything about one task. */
export const taskPath = z.object({ task_id: uuidForm });

/** A name that a caller gave to a resource of its own. */
export const ownName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/);

/**
 * The form of each path parameter of the public API, by its name. A value of another form names nothing: it is 404 and
 * reaches no service. No form accepts `.` or `..`, which an address resolves to another path.
 */
const pathParameters = new Map<string, z.ZodType<string>>([
  ['task_id', uuidForm],
  ['track_id', z.string().regex(/^(?!\.{1,2}$)[\w.-]{1,64}$/)],
  ['frame_id', z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d{1,10}$/)],
  ['alarm_id', uuidForm],
  ['delivery_id', uuidForm],
  ['rule_id', ownName],
  ['endpoint_id', ownName],
  ['token', z.string().regex(/^[\w-]{1,2048}$/)],
]);

/**
 * The parameters of a path such as `/v1/vision/tasks/{task_id}/tracks/{track_id}`, each with the form of its name.
 * @throws Error for a name that has no form.
 */
export function paramsOf(path: string): z.ZodType<Record<string, string>> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return z.object(Object.fromEntries(names.map((name) => [name, formOf(name, path)])));
}

function formOf(name: string, path: string): z.ZodType<string> {
  const form = pathParameters.get(name);
  if (!form) throw new Error(`${path}: path parameter ${name} has no form in contracts/ids.ts`);
  return form;
}
