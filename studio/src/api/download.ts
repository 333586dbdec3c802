import { failureOf, reach } from './client';

/**
 * Downloads a file.
 * @param accept its media type
 * @throws {RequestFailed} for an error response
 */
export async function download(path: string, accept: string, name: string): Promise<void> {
  const response = await reach(path, { headers: { Accept: accept } });
  if (!response.ok) throw await failureOf(response);
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
