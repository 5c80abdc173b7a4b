import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';

/** More than a fetch holds; what unpacks to more is no batch of ours. */
const MAX_BYTES = 128 * 1024 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * kafkajs has no zstd of its own and cannot go on behind a batch that another client wrote with it. Importing this
 * file lets it read and write them.
 */
kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
  compress: (encoder: { buffer: Buffer }) => compress(encoder.buffer),
  decompress: (batch: Buffer) => decompress(batch, { maxOutputLength: MAX_BYTES }),
});
