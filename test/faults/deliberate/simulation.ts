import type { DeliberateFault } from './deliberate-fault.ts';

const cachedUnread = {
  file: 'services/results/src/clients/segment-store.ts',
  find: `await gate.run(() => readIntact(store, object));
      // Only bytes that match the index: a truncated response would make the page unreadable until it leaves the cache.
      cache.set(object.objectKey, body);
`,
  replace: `await gate.run(() => store.get(object.objectKey, object.bytes));
      cache.set(object.objectKey, body);
      assertIntact(body, object);
`,
};

/** What the simulation has to find by itself, in schedules that nobody wrote down. */
export const simulatedFaults: DeliberateFault[] = [
  {
    ...cachedUnread,
    says: 'A short answer of the object store is cached, as schedules of readers show it',
    caughtBy: { world: 'pages' },
  },
  {
    ...cachedUnread,
    says: 'The same, as schedules of storing, moving, verifying and reading show it',
    caughtBy: { world: 'results' },
  },
  {
    says: 'Slots kept for subjects without one stay free, as schedules of create requests show it',
    file: 'services/tasks/src/db/slot-claims.ts',
    find: 'where has + turn = 1 or place <= free - kept',
    replace: 'where place <= free - case when has + turn = 1 then 0 else kept end',
    caughtBy: { world: 'places' },
  },
  {
    says: 'A worker drops jobs whose lease an overlapping renewal of it extended, as schedules of workers show it',
    file: 'services/inference/src/db/renew-jobs.ts',
    find: '  if (missing.length === 0) return renewed;',
    replace: '  if (missing.length >= 0) return renewed;',
    caughtBy: { world: 'leases' },
  },
];
