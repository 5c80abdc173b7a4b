import type { CDPSession, Page } from 'playwright-core';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Processor time, in microseconds: what the machine did meanwhile for others does not count. */
  tdur?: number;
  args?: { name?: string };
}

/** Tasks have one name or another, by the version of the browser. */
const CATEGORIES = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'];

/** Runs work and returns the tasks of the page's main thread that took longer, in milliseconds of processor time. */
export async function longTasks(page: Page, longestMs: number, work: () => Promise<void>): Promise<number[]> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    traceConfig: { includedCategories: CATEGORIES, excludedCategories: ['*'] },
  });
  await work();
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const main = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ name, ph, pid, tid, tdur }) =>
      name.endsWith('RunTask') && ph === 'X' && tdur !== undefined && main.has(`${pid} ${tid}`),
  );
  // A trace without any task would find none that is too long.
  if (tasks.length === 0) throw new Error(`the trace of ${events.length} events holds no task of the page`);
  return tasks.map(({ tdur = 0 }) => tdur / 1000).filter((ms) => ms > longestMs);
}

/** What scripts hold after everything that nobody refers to has gone. */
export async function heapBytes(page: Page): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.enable');
  // What is released by a first collection, such as listeners of images, frees more in a second one.
  for (let turn = 0; turn < 2; turn += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
