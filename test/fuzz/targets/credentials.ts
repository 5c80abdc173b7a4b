import assert from 'node:assert/strict';
import { answerChallenge } from '@vision/streams/digest-auth';
import { answerRefusal } from '../../../services/inference/src/inputs/rtmp/rtmp-credentials.ts';
import type { FuzzTarget } from '../target.ts';

const credentials = { user: 'who&"', password: 'secret word' };

/** Challenges of cameras: the answer is one header line or one part of a name, and never tells the password. */
export const target: FuzzTarget = {
  maxBytes: 2048,
  check: (input) => {
    const text = input.toString('latin1');
    const request = { method: 'DESCRIBE', uri: 'rtsp://camera.example.org/live' };
    const header = answerChallenge(text.split('\n'), credentials, request);
    assert.doesNotMatch(header ?? '', /[\x00-\x08\x0a-\x1f\x7f]/);
    assert.doesNotMatch(header ?? '', /secret word/);
    const name = answerRefusal(text, credentials);
    assert.match(name ?? '?', /^\?[\w.~!'()*%+/=&-]*$/);
  },
};
