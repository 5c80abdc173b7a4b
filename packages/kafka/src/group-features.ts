import kafkajs from 'kafkajs';
import type { PartitionAssigner } from 'kafkajs';
import { withAdmin } from './dlq-records.ts';
import type { KafkaClient } from './kafka.ts';

/**
 * The usual assigner of a consumer group whose members say what they read beyond what every release reads. The names
 * travel with the subscription, so the broker has them of exactly those members that get partitions, and members of
 * other releases beside them neither see nor miss them.
 */
export const announcing =
  (features: readonly string[]): PartitionAssigner =>
  (config) => {
    const assigner = kafkajs.PartitionAssigners.roundRobin(config);
    const userData = Buffer.from(JSON.stringify({ features }));
    return {
      ...assigner,
      protocol: ({ topics }) => ({
        name: assigner.name,
        metadata: kafkajs.AssignerProtocol.MemberMetadata.encode({ version: assigner.version, topics, userData }),
      }),
    };
  };

/**
 * Whether every member of a consumer group has announced this feature; the name of the group without prefix. False too
 * while the group has no member, or has not settled who its members are.
 * @throws what the broker answers, for instance that this user may not describe the group.
 */
export async function isReadByAll(client: KafkaClient, groupId: string, feature: string): Promise<boolean> {
  const { groups } = await withAdmin(client, (admin) => admin.describeGroups([client.nameOf(groupId)]));
  const [group] = groups;
  if (group?.state !== 'Stable' || group.members.length === 0) return false;
  return group.members.every(({ memberMetadata }) => featuresIn(memberMetadata).includes(feature));
}

/** What a member announced; nothing when it is of another release, or no consumer of ours. */
function featuresIn(metadata: Buffer): unknown[] {
  try {
    const userData = kafkajs.AssignerProtocol.MemberMetadata.decode(metadata)?.userData ?? Buffer.alloc(0);
    const { features } = JSON.parse(userData.toString()) as { features?: unknown };
    return Array.isArray(features) ? features : [];
  } catch {
    return [];
  }
}
