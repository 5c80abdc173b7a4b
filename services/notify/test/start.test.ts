import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { createLogWatch } from '../src/use-cases/log/watch-logs.ts';
import { logger, startNotify, task } from './support.ts';

test('reports its status, and a stop ends open streams at once', async () => {
  const notify = await startNotify({ SHUTDOWN_GRACE_MS: '120000' });
  try {
    const ready = await fetch(`http://127.0.0.1:${notify.service.healthPort}/health/ready`);
    expect(ready.status).toBe(200);
    const status = (await (await notify.call('GET', '/internal/v1/status')).json()) as {
      service: string;
      dependencies: { name: string; fault?: string }[];
    };
    expect(status.service).toBe('notify');
    expect(status.dependencies.map(({ name, fault }) => [name, fault])).toEqual([
      ['database', undefined],
      ['kafka', undefined],
    ]);
    const stream = await notify.open();
    await until(() => Promise.resolve(stream.ids.length > 0));
    const startedAt = performance.now();
    await notify.service.stopPhases.find(({ name }) => name === 'http')?.stop();
    // The time that running requests may take otherwise.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    await until(() => Promise.resolve(stream.isEnded));
    expect(stream.answer.complete).toBe(true);
  } finally {
    await notify.stop();
  }
});

test('all readers of a process share one statement, and none is sent while there are none', async () => {
  const notify = await startNotify();
  const { db } = notify.database;
  const statements: string[] = [];
  const note = ({ sql }: { sql: string }) => statements.push(sql);
  const watch = createLogWatch({ db, logger });
  try {
    await notify.tell(task({ subject: 'a' }), task({ subject: 'b' }));
    db.on('query', note);
    watch.start();
    // Only time can show absence: some intervals of the watch.
    await delay(700);
    expect(statements).toEqual([]);
    const followed = ['a', 'b'].map((subject) => watch.follow(subject));
    await Promise.all(followed.map((one) => one.wait(5_000)));
    expect(statements).toHaveLength(1);
    followed.forEach((one) => one.end());
  } finally {
    await watch.stop();
    db.off('query', note);
    await notify.stop();
  }
});
