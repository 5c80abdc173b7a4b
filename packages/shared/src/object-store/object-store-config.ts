import { z } from 'zod';
import { ConfigError, httpUrl } from '../config.ts';
import { certificateFile } from '../pem-file.ts';
import type { ObjectStoreOptions } from './exchange.ts';

/** Settings of everything that stores objects. */
export const objectStoreConfig = {
  S3_ENDPOINT: httpUrl().describe('Address of the S3 service'),
  S3_REGION: z.string().default('us-east-1').describe('Region sent with S3 signatures'),
  S3_BUCKET: z.string().default('vision').describe('Bucket for uploads and pictures'),
  S3_ACCESS_KEY: z.string().optional().describe('S3 access key; without it the identity of the pod is used'),
  S3_SECRET_KEY: z.string().optional().describe('S3 secret key'),
  S3_CA_FILE: certificateFile
    .optional()
    .describe('PEM file of the authorities to trust for the S3 service, instead of those of Node.js'),
  S3_STS_ENDPOINT: httpUrl()
    .optional()
    .describe('Where the token of a pod is exchanged for S3 keys; https://sts.<S3_REGION>.amazonaws.com when absent'),
  AWS_ROLE_ARN: z.string().optional().describe('Role of the pod, for S3; clusters set it beside the token'),
  AWS_WEB_IDENTITY_TOKEN_FILE: z
    .string()
    .optional()
    .describe('File with the token that proves the identity of the pod, for S3; it is read again when it changes'),
};

type ObjectStoreConfig = z.output<z.ZodObject<typeof objectStoreConfig>>;

/** How to reach the bucket, in the words of the code. @throws ConfigError when nothing proves who we are. */
export function objectStoreOptions(config: ObjectStoreConfig): ObjectStoreOptions {
  const { S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey, S3_REGION: region } = config;
  const { AWS_ROLE_ARN: roleArn, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile } = config;
  if ((accessKey === undefined) !== (secretKey === undefined))
    throw new ConfigError('S3_ACCESS_KEY and S3_SECRET_KEY are needed together');
  if (accessKey === undefined && (roleArn === undefined || tokenFile === undefined))
    throw new ConfigError(
      'S3_ACCESS_KEY and S3_SECRET_KEY are missing, and so is the identity of a pod ' +
        '(AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE)',
    );
  return {
    endpoint: config.S3_ENDPOINT,
    region,
    bucket: config.S3_BUCKET,
    accessKey: accessKey ?? '',
    secretKey: secretKey ?? '',
    caFile: config.S3_CA_FILE,
    identity:
      accessKey === undefined && roleArn !== undefined && tokenFile !== undefined
        ? { roleArn, tokenFile, endpoint: config.S3_STS_ENDPOINT ?? `https://sts.${region}.amazonaws.com` }
        : undefined,
  };
}
