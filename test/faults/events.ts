import { isDeepStrictEqual } from 'node:util';
import type { Answer, Caller } from '../support/system.ts';
import type { Listener, Listeners } from './listeners.ts';
import type { State } from './state.ts';
import type { World } from './world/world.ts';

/** An event as its owner reads it from the log. */
export interface LoggedEvent {
  event_id: string;
  type: string;
  sequence: number;
  data: { endpoint_id?: string; task?: { task_id: string }; alarm?: { task_id: string } };
}

/** What reached a listener once. */
interface Received {
  eventId: string;
  body: string;
  at: number;
  /** Whether its sender may count it as delivered. */
  isTaken: boolean;
}

/** What a listener received, compared with the log. */
export interface Delivered {
  listener: Listener;
  /** Events that it had to get; none of one that has left. */
  events: number;
  /** Of these, those that it got. */
  delivered: number;
  /** Times that something came which it had already got. */
  repeated: number;
  lost: string[];
  /** Came with a wrong signature, with other bytes than before, or not as the log has it. */
  altered: string[];
  /** Are in no log. */
  unknown: string[];
  /** Came, though its endpoint was deleted or its key revoked. */
  late: string[];
}

/** What was sent before an endpoint went may take this long to arrive: a process that sends it may be frozen. */
const UNDER_WAY_MS = 30_000;
const PAGES = 1_000;

/** Compares what every listener got with the logs of the callers, as these read them. */
export async function compareDeliveries(
  { world, workload }: Pick<State, 'world' | 'workload'>,
  listeners: Listeners,
): Promise<Delivered[]> {
  const isOfDeleted = (body: string) => {
    const { task, alarm } = (JSON.parse(body) as LoggedEvent).data;
    return workload.deletions.has(alarm?.task_id ?? task?.task_id ?? '');
  };
  const logs = new Map<string, LoggedEvent[]>();
  for (const caller of listeners.callers) logs.set(caller.subject, await readLog(caller));
  return listeners.all.map((listener) =>
    compare(
      listener,
      // The log no longer has what it had of tasks that were deleted.
      receivedBy(world, listener).filter(({ body }) => !isOfDeleted(body)),
      (logs.get(listener.owner.subject) ?? []).filter((event) => !isOfDeleted(JSON.stringify(event))),
    ),
  );
}

/** The whole log of a caller, by pages. */
async function readLog(caller: Caller): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  let cursor = '';
  for (let page = 0; page < PAGES; page += 1) {
    const answer: Answer = await caller.get(`/v1/vision/events?limit=500${cursor ? `&cursor=${cursor}` : ''}`);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`);
    events.push(...(answer.body['items'] as LoggedEvent[]));
    cursor = String(answer.body['next_cursor']);
    if (cursor === '') return events;
  }
  throw new Error('a log does not come to an end');
}

/** With a time that is too wrong a webhook is refused as one that is not there: it has to come once more. */
function receivedBy({ receiver, mqtt }: World, { door, address }: Listener): (Received & { isForged?: boolean })[] {
  if (door === 'webhook')
    return receiver.arrivals
      .filter(({ path, outcome }) => path === address && outcome !== 'stale')
      .map(({ outcome, ...rest }) => ({ ...rest, isTaken: outcome === 'taken', isForged: outcome === 'altered' }));
  return (mqtt?.messages ?? [])
    .filter(({ topic }) => topic.startsWith(`${address}/`))
    .map(({ body, at }) => ({ eventId: (JSON.parse(body) as LoggedEvent).event_id, body, at, isTaken: true }));
}

function compare(
  listener: Listener,
  received: readonly (Received & { isForged?: boolean })[],
  log: readonly LoggedEvent[],
): Delivered {
  const known = new Map(log.map((event) => [event.event_id, event]));
  const bodies = new Map<string, string>();
  const taken = new Set<string>();
  const found = { repeated: 0, altered: [] as string[], unknown: [] as string[], late: [] as string[] };
  for (const { eventId, body, at, isTaken, isForged = false } of received) {
    const event = known.get(eventId);
    const first = bodies.get(eventId) ?? body;
    bodies.set(eventId, first);
    if (taken.has(eventId)) found.repeated += 1;
    if (isTaken) taken.add(eventId);
    if (!event) found.unknown.push(eventId);
    else if (isForged || first !== body || !isDeepStrictEqual(JSON.parse(body), event)) found.altered.push(eventId);
    if (isLate(listener, event, at)) found.late.push(eventId);
  }
  const wanted = listener.left ? [] : log.filter((event) => isFor(listener, event));
  const lost = wanted.filter(({ event_id }) => !taken.has(event_id)).map(({ type, event_id }) => `${type} ${event_id}`);
  return { listener, events: wanted.length, delivered: wanted.length - lost.length, lost, ...found };
}

const isLate = ({ left }: Listener, event: LoggedEvent | undefined, at: number) =>
  left !== undefined && (at > left.at + UNDER_WAY_MS || (event?.sequence ?? 0) > left.position);

/** What another webhook endpoint missed is told to those that ask for it. */
function isFor({ types, endpointId }: Listener, { type, data }: LoggedEvent): boolean {
  if (type === 'webhook_endpoint.test') return false;
  if (type === 'events.missed') return data.endpoint_id === endpointId;
  return types?.includes(type) ?? true;
}
