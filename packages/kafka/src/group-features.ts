import kafkajs from 'kafkajs';
import type { Admin, PartitionAssigner } from 'kafkajs';
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

/** Asks a consumer group on one connection, which is made anew after a failure. One question at a time. */
export interface FeatureQuery {
  /**
   * Whether every member of the group has announced the feature. False too while the group has no member, or has not
   * settled who its members are.
   * @throws what the broker answers, for instance that this user may not describe the group.
   */
  isReadByAll: () => Promise<boolean>;
  close: () => Promise<void>;
}

/** @param groupId without prefix */
export function createFeatureQuery(client: KafkaClient, groupId: string, feature: string): FeatureQuery {
  let admin: Admin | undefined;
  const close = async () => {
    const last = admin;
    admin = undefined;
    await last?.disconnect();
  };
  return {
    isReadByAll: async () => {
      try {
        // The caller asks again; retries of the library would hold up its stop.
        admin ??= client.kafka.admin({ retry: { retries: 0 } });
        await admin.connect();
        const { groups } = await admin.describeGroups([client.nameOf(groupId)]);
        const [group] = groups;
        if (group?.state !== 'Stable' || group.members.length === 0) return false;
        return group.members.every(({ memberMetadata }) => featuresIn(memberMetadata).includes(feature));
      } catch (error) {
        await close().catch(() => undefined);
        throw error;
      }
    },
    close,
  };
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
