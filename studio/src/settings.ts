/** Settings of the service, read once before the first page is shown. */
export interface ServiceSettings {
  readonly auth: 'open' | 'required';
  readonly open_id_connect: boolean;
  readonly currency_digits: Readonly<Record<string, number>>;
}

let settings: ServiceSettings = { auth: 'required', open_id_connect: false, currency_digits: {} };

/** Reads the settings. Call it before the first page is shown. */
export async function loadSettings(): Promise<void> {
  const response = await fetch('/studio/settings.json');
  if (!response.ok) throw new Error(`The settings of the service: ${response.status}`);
  settings = (await response.json()) as ServiceSettings;
}

export function serviceSettings(): ServiceSettings {
  return settings;
}
