import { expect, test } from '@jest/globals';
import { bytes, count, duration, inUtc, isolated, position, short, shortTime, time } from './format.ts';
import { chooseImages } from './image-files.ts';
import { clearPending, isContinued, readPending, writePending } from './pending-upload.ts';
import { codeIn, hrefOf, routeOf } from './route.ts';

const taskId = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';

const addresses = [
  '#/',
  '#/images',
  '#/tasks',
  '#/tasks/new-stream',
  `#/tasks/${taskId}`,
  `#/images/${taskId}`,
  '#/alarms',
  '#/alarms/new-rule',
  `#/alarms/new-rule/${taskId}`,
  '#/alarms/rules/yard-at-night',
  '#/webhooks',
  '#/webhooks/guard_room',
];

test.each(addresses)('the page of %s has this address', (fragment) => expect(hrefOf(routeOf(fragment))).toBe(fragment));

test.each([
  '#/tasks/1',
  `#/tasks/${taskId}/x`,
  `#/x/${taskId}`,
  '#/constructor',
  '#/tasks/<img src=x>',
  '#/Tasks',
  '#/webhooks/A',
  '#/alarms/rules/',
])('%s is no page', (fragment) => expect(routeOf(fragment)).toEqual({ page: 'unknown' }));

test('only a whole code is the code of a sign-in', () => {
  const code = 'A-_'.padEnd(43, 'x');
  expect(codeIn(`#code=${code}`)).toBe(code);
  expect([codeIn(`#code=${code}x`), codeIn('#code='), codeIn(`#/x#code=${code}`)]).toEqual(Array(3).fill(undefined));
});

test('times and sizes are written for people', () => {
  expect([position(5_400), position(754_000), position(3_723_000)]).toEqual(['0:05', '12:34', '1:02:03']);
  expect([800, 12_000, 200_000, 3_600_000, 7_500_000, 273_600_000].map((ms) => duration(ms))).toEqual([
    '0.8 s',
    '12 s',
    '3 min 20 s',
    '1 h',
    '2 h 5 min',
    '3 d 4 h',
  ]);
  expect([bytes(512), bytes(1400), bytes(88_000_000)]).toEqual(['512 B', '1.4 kB', '88 MB']);
  expect([count(1, 'unit'), count(1200, 'unit')]).toEqual(['1 unit', '1,200 units']);
  expect(short('x'.repeat(10_000), 40)).toHaveLength(40);
});

test('a time has its date unless that is today', () => {
  const now = new Date(2026, 2, 15, 0, 30).getTime();
  const today = new Date(2026, 2, 15, 0, 5, 7).getTime();
  const yesterday = new Date(2026, 2, 14, 23, 59, 58).getTime();
  expect([time(today, now), shortTime(today, now)]).toEqual(['00:05:07', '00:05:07']);
  expect([time(yesterday, now), shortTime(yesterday, now)]).toEqual(['14 Mar, 23:59:58', '14 Mar 23:59']);
  expect(inUtc(Date.UTC(2026, 2, 14, 23, 59, 58))).toBe('2026-03-14 23:59:58 UTC');
});

test('a text of others does not turn what follows it, with any marks', () => {
  expect(isolated('\u202egate')).toBe('\u2068\u202egate\u2069');
  expect(isolated('a\u2069\u202e\u2067b')).toBe('\u2068a\u202eb\u2069');
});

test('a call takes ten images of its types; the names of others are said', () => {
  const image = (name: string, size = 100, type = 'image/jpeg') => ({ name, size, type });
  const many = Array.from({ length: 12 }, (_, index) => image(`${index}.jpg`));
  expect(chooseImages([], many)).toMatchObject({ refused: [], isCut: true });
  expect(chooseImages([], many).taken).toHaveLength(10);
  const mixed = [image('a.gif', 100, 'image/gif'), image('b.jpg', 9 * 1024 * 1024), image('c.png', 1, 'image/png')];
  expect(chooseImages([image('0.jpg')], mixed)).toMatchObject({ refused: ['a.gif', 'b.jpg'], isCut: false });
});

test('an upload goes on under its key with the same file and the same wishes only', () => {
  const values = new Map<string, string>();
  const store = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
  const file = { name: 'a.mp4', size: 5, lastModified: 7 };
  const pending = { ...file, sceneCode: 'person_vehicle', clientRef: '', hasSnapshots: true, requestKey: 'key' };
  expect(readPending(store)).toBeUndefined();
  writePending(store, pending);
  expect(readPending(store)).toEqual(pending);
  const same = { file, scene: 'person_vehicle', name: '', hasSnapshots: true };
  expect(isContinued(pending, same)).toBe(true);
  for (const changes of [
    { file: undefined },
    { file: { ...file, name: 'b.mp4' } },
    { file: { ...file, size: 6 } },
    { file: { ...file, lastModified: 8 } },
    { scene: 'ship' },
    { name: 'yard' },
    { hasSnapshots: false },
  ])
    expect(isContinued(pending, { ...same, ...changes })).toBe(false);
  store.setItem('vision-upload', '{"name":1');
  expect(readPending(store)).toBeUndefined();
  clearPending(store);
  expect(values.size).toBe(0);
});
