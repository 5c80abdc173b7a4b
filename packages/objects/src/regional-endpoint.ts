/** Hosts for which the S3 client goes to that of the region instead. */
const HOSTS = new Set(['s3.amazonaws.com', 's3.cn-north-1.amazonaws.com.cn']);

/**
 * The address that answers for a region. The host of AWS for all regions redirects, so the S3 client goes to the host
 * of the region in its place; the requests that are signed here have to go there as well.
 */
export function regionalEndpoint(endpoint: URL, region: string): URL {
  if (!HOSTS.has(endpoint.hostname)) return endpoint;
  const regional = new URL(endpoint);
  regional.hostname = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return regional;
}
