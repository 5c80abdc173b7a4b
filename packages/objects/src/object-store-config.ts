import { z } from 'zod';
import { ConfigError, httpUrl } from '@vision/shared/config';
import { certificateFile } from '@vision/shared/pem-file';
import { isAgentUrl } from './container-identity.ts';
import type { ObjectStoreOptions } from './call-store.ts';

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
  AWS_CONTAINER_CREDENTIALS_FULL_URI: httpUrl()
    .refine(isAgentUrl, 'https://, or http:// at the address of the agent of EKS or ECS or on loopback')
    .optional()
    .describe('Address of the agent that gives the pod S3 keys; set by the cluster (EKS Pod Identity)'),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: z
    .string()
    .optional()
    .describe('File with the token of the pod for that agent; read again for each request'),
};

type ObjectStoreConfig = z.output<z.ZodObject<typeof objectStoreConfig>>;

/** How to reach the bucket, in the words of the code. @throws ConfigError when nothing proves who we are. */
export function objectStoreOptions(config: ObjectStoreConfig): ObjectStoreOptions {
  const { S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey, S3_REGION: region } = config;
  if ((accessKey === undefined) !== (secretKey === undefined))
    throw new ConfigError('S3_ACCESS_KEY and S3_SECRET_KEY are needed together');
  const identity = accessKey === undefined ? identityOf(config) : undefined;
  if (accessKey === undefined && identity === undefined)
    throw new ConfigError(
      'S3_ACCESS_KEY and S3_SECRET_KEY are missing, and so is the identity of a pod ' +
        '(AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or AWS_CONTAINER_CREDENTIALS_FULL_URI and ' +
        'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE)',
    );
  return {
    endpoint: config.S3_ENDPOINT,
    region,
    bucket: config.S3_BUCKET,
    accessKey: accessKey ?? '',
    secretKey: secretKey ?? '',
    caFile: config.S3_CA_FILE,
    identity,
  };
}

/** A cluster that gives a pod both kinds means the role, as the SDKs of AWS do. */
function identityOf(config: ObjectStoreConfig): ObjectStoreOptions['identity'] {
  const { AWS_ROLE_ARN: roleArn, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile } = config;
  if (roleArn !== undefined && tokenFile !== undefined) {
    const endpoint = config.S3_STS_ENDPOINT ?? `https://sts.${config.S3_REGION}.amazonaws.com`;
    return { roleArn, tokenFile, endpoint };
  }
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file } = config;
  return url === undefined || file === undefined ? undefined : { credentialsUrl: url, authorizationFile: file };
}
