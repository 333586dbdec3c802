import type { OpenAPIObject } from '@nestjs/swagger';

interface PropertySchema {
  default?: unknown;
  description?: string;
}

/**
 * Moves the default of each field from the keyword `default` to the description of the field. Client generators would
 * conclude from the keyword that the field is always present, and would require it in requests.
 */
export function describeDefaults({ components }: OpenAPIObject): void {
  for (const schema of Object.values(components?.schemas ?? {})) {
    if (!('properties' in schema)) continue;
    for (const property of Object.values(schema.properties ?? {}) as PropertySchema[]) {
      if (property.default === undefined) continue;
      const text = `Default: \`${JSON.stringify(property.default)}\`.`;
      property.description = [property.description ?? '', text].join(' ').trim();
      delete property.default;
    }
  }
}
