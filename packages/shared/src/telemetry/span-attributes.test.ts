import { expect, test } from '@jest/globals';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { unansweredAttributes } from './span-attributes.ts';

const answer = () => new ServerResponse(new IncomingMessage(new Socket()));

test('a request that was never answered has no status of an answer, and says why', () => {
  expect(unansweredAttributes(answer())).toEqual({
    'http.response.status_code': 499,
    'app.error.reason': 'client_left',
  });
  const cut = Object.assign(answer(), { locals: { outcome: { reason: 'slow_upload' } } });
  expect(unansweredAttributes(cut)).toMatchObject({ 'app.error.reason': 'slow_upload' });
});

test('an answer that was begun keeps its status', () => {
  const begun = answer();
  begun.writeHead(200);
  expect(unansweredAttributes(begun)).toEqual({});
});
