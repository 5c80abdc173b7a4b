import { expect, test } from '@jest/globals';
import { bindingFor, taskFor } from './rule-task.ts';

const gate = { task_id: 'a', client_ref: 'gate' };
const nameless = { task_id: 'b' };
const found = [gate, nameless];

test('no other task takes the place of one that was named', () => {
  expect(taskFor(found, { taskId: 'b', ref: undefined })).toBe(nameless);
  expect(taskFor(found, { taskId: 'gone', ref: undefined })).toBeUndefined();
  expect(taskFor(found, { taskId: 'gone', ref: 'gate' })).toBe(gate);
});

test('a rule for which no task was named begins with the newest', () => {
  expect(taskFor(found, { taskId: '', ref: undefined })).toBe(gate);
  const none: typeof found = [];
  expect(taskFor(none, { taskId: '', ref: undefined })).toBeUndefined();
});

test('without its task a rule applies to all only where someone says so, or there are no tasks', () => {
  expect(bindingFor('ref', undefined, false)).toBe('open');
  expect(bindingFor('task', undefined, false)).toBe('open');
  expect(bindingFor('all', undefined, false)).toBe('all');
  expect(bindingFor('ref', undefined, true)).toBe('all');
  expect(bindingFor('stored', undefined, false)).toBe('stored');
});

test('a task without a name is bound by itself', () => {
  expect(bindingFor('ref', gate, false)).toBe('ref');
  expect(bindingFor('ref', nameless, false)).toBe('task');
});
