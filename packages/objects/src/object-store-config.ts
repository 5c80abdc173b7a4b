import { z } from 'zod';
import { ConfigError, httpUrl } from '@vision/shared/config';
import { certificateFile } from '@vision/shared/pem-file';
import type { ObjectStoreOptions } from './exchange.ts';

/** Settings of everything that stores objects. */
export const objectStoreConfig = {
  S3_ENDPOINT: httpUrl().describe('Address of the S3 service'),
  S3_REGION: z.string().default('us-east-1').describe('Region used in S3 signatures'),
  S3_BUCKET: z.string().default('vision').describe('Bucket for uploaded files, images and frames'),
  S3_ACCESS_KEY: z.string().optional().describe('S3 access key; if absent, the identity of the pod is used'),
  S3_SECRET_KEY: z.string().optional().describe('S3 secret key'),
  S3_CA_FILE: certificateFile
    .optional()
    .describe('PEM file with the certificate authorities for the S3 service, instead of those of Node.js'),
  S3_STS_ENDPOINT: httpUrl()
    .optional()
    .describe(
      'Security token service that exchanges the pod token for S3 keys; default: https://sts.<S3_REGION>.amazonaws.com',
    ),
  AWS_ROLE_ARN: z.string().optional().describe('Role of the pod for S3; set by the cluster together with the token'),
  AWS_WEB_IDENTITY_TOKEN_FILE: z
    .string()
    .optional()
    .describe('File with the identity token of the pod for S3; read again when it changes'),
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
