import { expect, test } from '@jest/globals';
import { crowdOf } from './crowd.ts';
import { parseSendQueues } from './send-queues.ts';

const TABLES = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:90B9 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 141220 1 0 100 0 0 10 0
  12: 0100007F:1F90 0100007F:D2A4 01 0019F0A1:00000000 04:00000014 00000000 10001        0 20070 2 0 20 4 30 10 -1
 113: 0100007F:1F90 0100007F:D2A6 04 00000001:0000000A 01:00000014 00000003 10001        1 0 2 0 20 4 30 10 -1
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when
   0: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:D2A8 01 00000010:00000000 01:00000001 00000000     0        0 777 1 0
`;

test('the tables of the kernel tell what waits for whom', () => {
  expect([...parseSendQueues(TABLES)]).toEqual([
    [20_070, 0x19f0a1],
    [0, 1],
    [777, 16],
  ]);
});

test('a network is too much when its own connections are, and everybody when all are together', () => {
  const connections = (network: string | undefined, mib: number) => [{ network, queued: mib * 1024 * 1024 }];
  const one = crowdOf([...connections('a', 9), ...connections('a', 8), ...connections('b', 16)]);
  expect([one('a'), one('b'), one(undefined)]).toEqual([true, false, false]);
  const all = crowdOf([...connections('a', 16), ...connections(undefined, 49)]);
  expect([all('a'), all('b'), all(undefined)]).toEqual([true, true, true]);
});
