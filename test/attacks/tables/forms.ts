import { randomUUID } from 'node:crypto';
import { example } from '../../support/system.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { openRaw, rawRequest, saidOn } from '../raw-http.ts';
import { invalid } from '../say.ts';

const CALL = 'POST /v1/vision/image-detections HTTP/1.1';
const UPLOAD = 'POST /v1/vision/video-tasks HTTP/1.1';
const MALFORMED = invalid('multipart_malformed');
const UNKNOWN = invalid('unknown_field');
const TYPE = 'multipart/form-data; boundary=x';

interface Sent {
  line?: string;
  type?: string;
  /** Headers in place of the length of the body. */
  framing?: string[];
  /** Ends our side after the body: what was promised never comes. */
  leaves?: boolean;
}

/** A form, byte by byte. */
const row = (
  name: string,
  expected: string,
  body: (picture: Buffer) => (string | Buffer)[],
  sent: Sent = {},
): Attack => ({
  name,
  expected,
  attempt: async (target) => {
    const { key } = await target.caller();
    const bytes = Buffer.concat(body(await example('street.jpg')).map((part) => Buffer.from(part as string, 'latin1')));
    const { line = CALL, type = TYPE, framing = [`Content-Length: ${bytes.length}`], leaves = false } = sent;
    const own = [
      'Host: x',
      `Authorization: Bearer ${key}`,
      `Idempotency-Key: ${randomUUID()}`,
      `Content-Type: ${type}`,
    ];
    const socket = await openRaw();
    const heard = saidOn(socket, 20_000);
    socket.write(rawRequest(line, [...own, ...framing, 'Connection: close']));
    socket.write(bytes);
    if (leaves) socket.end();
    return heard;
  },
});

const part = (disposition: string, content: string | Buffer, type = ''): (string | Buffer)[] => [
  `--x\r\nContent-Disposition: ${disposition}\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}\r\n`,
  content,
  '\r\n',
];
const file = (content: string | Buffer, name = 'files') =>
  part(`form-data; name="${name}"; filename="a.jpg"`, content, 'image/jpeg');
const value = (name: string, content: string) => part(`form-data; name="${name}"`, content);
const END = '--x--\r\n';
const MiB = 1024 * 1024;

export const forms: AttackGroup = {
  title: 'Forms',
  wanted: 'a hanging request, memory, a file in another place, or a value that was not checked',
  withinMs: 20_000,
  atOnce: 4,
  attacks: [
    row('nothing', MALFORMED, () => []),
    row('an end without a beginning', invalid('image_count_out_of_range'), () => [END]),
    row('no boundary', invalid('content_type_invalid'), (picture) => [...file(picture), END], {
      type: 'multipart/form-data',
    }),
    row('a boundary of 4 KiB', MALFORMED, (picture) => [...file(picture), END], {
      type: `multipart/form-data; boundary=${'x'.repeat(4_096)}`,
    }),
    row('a boundary of signs', MALFORMED, (picture) => [...file(picture), END], {
      type: 'multipart/form-data; boundary="(.*)+$"',
    }),
    row('another type', invalid('content_type_invalid'), () => ['{}'], { type: 'application/json' }),
    row('a compressed form', invalid('content_encoding_unsupported'), () => ['0123456789'], {
      framing: ['Content-Encoding: gzip', 'Content-Length: 10'],
    }),
    row('no end', MALFORMED, (picture) => file(picture)),
    {
      ...row('files behind the end, the last of them without an end', '201', (picture) => [
        ...file(picture),
        END,
        ...file(picture),
        ...file(picture.subarray(0, 4_000)).slice(0, 2),
      ]),
      charged: 1,
    },
    row('an end in the middle of an image', MALFORMED, (picture) => file(picture.subarray(0, 4_000)).slice(0, 2)),
    row(
      'less than its length, and a client that leaves',
      invalid('request_malformed'),
      (picture) => file(picture).slice(0, 2),
      { framing: ['Content-Length: 9999999'], leaves: true },
    ),
    row('other names for the files', UNKNOWN, (picture) => [...file(picture, 'image'), END]),
    row('a prototype for a name', UNKNOWN, (picture) => [...value('__proto__[isAdmin]', '1'), ...file(picture), END]),
    row('brackets, 2,000 deep', UNKNOWN, (picture) => [...value(`a${'[b]'.repeat(30)}`, '1'), ...file(picture), END]),
    row('an array of a billion', UNKNOWN, (picture) => [...value('a[999999999]', '1'), ...file(picture), END]),
    row('the scene as an array', UNKNOWN, (picture) => [...value('scene_code[]', 'ship'), ...file(picture), END]),
    row('two scenes', invalid('field_repeated'), (picture) => [
      ...value('scene_code', 'ship'),
      ...value('scene_code', 'fishing'),
      ...file(picture),
      END,
    ]),
    row('a scene of a megabyte', invalid('field_too_long'), (picture) => [
      ...value('scene_code', 's'.repeat(MiB)),
      ...file(picture),
      END,
    ]),
    row('a scene that is a file', UNKNOWN, (picture) => [
      ...part('form-data; name="scene_code"; filename="a"', 'ship'),
      ...file(picture),
      END,
    ]),
    row('an image that is a value', UNKNOWN, (picture) => [...part('form-data; name="files"', picture), END]),
    row('a part without a name', UNKNOWN, (picture) => [...part('form-data', 'x'), ...file(picture), END]),
    row('eleven images', invalid('image_count_out_of_range'), (picture) => [
      ...Array.from({ length: 11 }, () => file(picture)).flat(),
      END,
    ]),
    row('10,000 values', UNKNOWN, () => [
      ...Array.from({ length: 10_000 }, (_, index) => value(`a${index}`, '')).flat(),
      END,
    ]),
    row('a part with 3,000 headers', MALFORMED, (picture) => [
      '--x\r\n',
      'A: 1\r\n'.repeat(3_000),
      '\r\n',
      picture,
      '\r\n',
      END,
    ]),
    row('a part with a header of 100 KiB', MALFORMED, (picture) => [
      `--x\r\nContent-Disposition: form-data; name="${'f'.repeat(100_000)}"\r\n\r\n`,
      picture,
      '\r\n',
      END,
    ]),
    row('82 MiB, as it says', invalid('body_too_large'), () => [], { framing: [`Content-Length: ${82 * MiB}`] }),
    row('82 MiB before the first part', invalid('body_too_large'), () => [Buffer.alloc(82 * MiB, 32)]),
    row('82 MiB behind the last part', invalid('body_too_large'), (picture) => [
      ...file(picture),
      END,
      Buffer.alloc(82 * MiB, 32),
    ]),
    row('a video of 515 MiB, as it says', invalid('body_too_large'), () => [], {
      line: UPLOAD,
      framing: [`Content-Length: ${515 * MiB}`],
    }),
    row(
      'two videos',
      invalid('too_many_files'),
      () => {
        const video = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42', 'latin1'), Buffer.alloc(5_000)]);
        return [...file(video, 'file'), ...file(video, 'file'), END];
      },
      { line: UPLOAD },
    ),
  ],
};
