import kafkajs from 'kafkajs';
import type { Message, PartitionerArgs, RecordMetadata, TopicMessages } from 'kafkajs';

/** What a producer needs to tell an acknowledgement of the broker from a request that was never sent. */
export interface AcknowledgementCheck {
  /** The partitioner of the producer: murmur2 of the key, or the partition that the message names. */
  createPartitioner: () => (args: PartitionerArgs) => number;
  /**
   * Compares what was sent with what the broker answered.
   * @throws KafkaJSError, retriable, when the answer does not name the partition of every message.
   */
  verify: (sent: TopicMessages[], answer: RecordMetadata[]) => void;
}

/**
 * kafkajs 2.2.4 resolves a send without any request for a partition that its metadata does not know, and for one whose
 * leader moved, between two tries, to a broker that had answered already. A partition that is not known is looked up
 * again before anything is sent; an answer that leaves one out is no acknowledgement.
 */
export function createAcknowledgementCheck(): AcknowledgementCheck {
  const choose = kafkajs.Partitioners.DefaultPartitioner();
  const partitions = new WeakMap<Message, Set<number>>();
  return {
    createPartitioner: () => (args) => {
      const { topic, message, partitionMetadata } = args;
      const partition = choose(args);
      if (!partitionMetadata.some(({ partitionId }) => partitionId === partition)) throw unknown(topic, partition);
      // Another try may choose another partition, as for a message without key.
      partitions.set(message, (partitions.get(message) ?? new Set()).add(partition));
      return partition;
    },
    verify: (sent, answer) => {
      const acknowledged = new Set(answer.map(({ topicName, partition }) => idOf(topicName, partition)));
      for (const { topic, messages } of sent) {
        for (const message of messages) {
          const chosen = [...(partitions.get(message) ?? [])];
          const [partition, ...others] = chosen;
          if (partition === undefined || others.length > 0 || !acknowledged.has(idOf(topic, partition))) {
            throw unacknowledged(topic, chosen);
          }
        }
      }
    },
  };
}

const idOf = (topic: string, partition: number) => `${partition}/${topic}`;

/** As the broker says it; kafkajs then fetches the metadata of the topic again before the next try. */
function unknown(topic: string, partition: number): Error {
  const error = new Error(`topic ${topic} has no partition ${partition}`);
  return new kafkajs.KafkaJSProtocolError(
    Object.assign(error, { type: 'UNKNOWN_TOPIC_OR_PARTITION', code: 3, retriable: true }),
  );
}

function unacknowledged(topic: string, partitions: number[]): Error {
  const named = partitions.join(', ') || 'none';
  return new kafkajs.KafkaJSError(`the broker did not acknowledge partition ${named} of topic ${topic}`, {
    retriable: true,
  });
}
