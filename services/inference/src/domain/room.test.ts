import { expect, test } from '@jest/globals';
import { filePlacesOf, fileSlotsOf, roomFor } from './room.ts';

test('files leave the places that live streams can have, and half of all at most', () => {
  expect(filePlacesOf(16, 3)).toBe(13);
  expect(filePlacesOf(16, 16)).toBe(8);
  expect(filePlacesOf(1, 1)).toBe(1);
});

test('a stream finds room among any number of files', () => {
  const places = { jobs: 16, live: 3, files: 13 };
  expect(roomFor(places, { jobs: 13, live: 0 })).toEqual({ stream: 3, object: 0 });
  expect(roomFor(places, { jobs: 15, live: 2 })).toEqual({ stream: 1, object: 0 });
});

test('streams that cannot be computed leave the places of files alone', () => {
  expect(roomFor({ jobs: 16, live: 3, files: 13 }, { jobs: 3, live: 3 })).toEqual({ stream: 0, object: 13 });
});

test('where a worker is gone there is no room, not less than none', () => {
  expect(roomFor({ jobs: 4, live: 1, files: 3 }, { jobs: 9, live: 4 })).toEqual({ stream: 0, object: 0 });
});

test('files have as many slots as copies of the largest fit, and one at least', () => {
  expect(fileSlotsOf(1_000, 300)).toBe(3);
  expect(fileSlotsOf(300, 300)).toBe(1);
  expect(fileSlotsOf(0, 300)).toBe(1);
});
