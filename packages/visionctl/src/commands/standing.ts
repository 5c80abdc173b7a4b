import type { PartitionLag } from '@vision/contracts/status';
import type { Command, CommandGroup } from '../command.ts';
import { oneOfEach, readProcesses, silentOnes } from '../system-status.ts';
import { republishCommand } from './republish.ts';
import { table } from '../table.ts';

export const breakersCommand: Command = {
  name: 'breakers',
  summary: 'show the breakers of every replica; exit code 1 when one is not closed or a replica did not answer',
  run: async ({ admin }) => {
    const processes = await readProcesses(admin);
    const rows = processes.flatMap(({ service, address, status }) =>
      (status?.breakers ?? []).map((breaker) => ({ service, address, instance: status?.instance, ...breaker })),
    );
    const silent = silentOnes(processes);
    const isWell = silent.length === 0 && rows.every(({ state }) => state === 'closed');
    const text = [table(['service', 'address', 'instance', 'name', 'state'], rows), ...silent].join('\n');
    return { value: { items: rows, silent }, text, exitCode: isWell ? 0 : 1 };
  },
};

export const lagCommand: Command = {
  name: 'lag',
  options: { partitions: { summary: 'list each partition' } },
  summary: 'show the lag of consumers; exit code 1 when a service did not answer',
  run: async ({ admin, options }) => {
    const processes = await readProcesses(admin);
    const lags = oneOfEach(processes).flatMap(({ service, lag }) => lag.map((one) => ({ service, ...one })));
    const rows = options['partitions'] === 'true' ? lags : summed(lags);
    const silent = silentOnes(processes);
    const columns = ['service', 'group', 'topic', options['partitions'] === 'true' ? 'partition' : 'partitions', 'lag'];
    const text = [table(columns, rows), ...silent].join('\n');
    return { value: { items: rows, silent }, text, exitCode: silent.length === 0 ? 0 : 1 };
  },
};

/** One row for each topic that a group reads. */
function summed(rows: (PartitionLag & { service: string })[]) {
  const sums = new Map<string, { service: string; group: string; topic: string; partitions: number; lag: number }>();
  for (const { service, group, topic, lag } of rows) {
    const name = `${group} ${topic}`;
    const before = sums.get(name) ?? { service, group, topic, partitions: 0, lag: 0 };
    sums.set(name, { ...before, partitions: before.partitions + 1, lag: before.lag + lag });
  }
  return [...sums.values()];
}

export const outboxCommands: CommandGroup = {
  name: 'outbox',
  summary: 'events on their way to Kafka',
  commands: [
    {
      name: 'status',
      summary: 'show events that wait to be published, by service; exit code 1 when a service did not answer',
      run: async ({ admin }) => {
        const processes = await readProcesses(admin);
        const publishers = new Map(
          processes.flatMap(({ service, status }) =>
            status?.outbox?.publishes ? [[service, status.instance] as const] : [],
          ),
        );
        const rows = oneOfEach(processes).flatMap(({ service, outbox }) =>
          outbox
            ? [{ service, waiting: outbox.waiting, oldest_s: outbox.oldest_s, published_by: publishers.get(service) }]
            : [],
        );
        const silent = silentOnes(processes);
        const text = [table(['service', 'waiting', 'oldest_s', 'published_by'], rows), ...silent].join('\n');
        return { value: { items: rows, silent }, text, exitCode: silent.length === 0 ? 0 : 1 };
      },
    },
    republishCommand,
  ],
};
