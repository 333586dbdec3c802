import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'pg';
import type { Browser, Page } from 'playwright-core';
import type { AdminRole } from '../../src/core/access';
import { PASSWORD, PASSWORD_HASH } from './admins';
import { launchChromium, openPage, type PageFaults, untilQuiet } from './browser';
import { ConsoleStoryTeller } from './console-story';
import { createTestDatabase, type TestDatabase } from './databases';
import { BOOTSTRAP_KEY, WITH_KEYS } from './keys';
import { RunningService } from './running-service';

/** Inserts customers that are newer than all others. Uses SQL, because creating many customers through the API is slow. */
const ADD_CUSTOMERS = `
  INSERT INTO customer (id, version, name, timezone, tax_exempt, metadata, created_at, updated_at)
  SELECT 'cus_7' || lpad(number::text, 25, '0'), 1, 'Customer ' || number, 'UTC', 'none', '{}', now(), now()
  FROM generate_series(0, $1::integer - 1) AS number`;

/** Receives the deliveries of webhooks. */
async function startReceiver(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    response.end('Thank you.');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** A page of the console with an admin signed in. */
export interface SignedInPage {
  readonly page: Page;
  readonly faults: PageFaults;
  readonly close: () => Promise<void>;
}

/** The service with its console, a browser, a webhook receiver, and an API key with all scopes. */
export class RunningConsole {
  private constructor(
    readonly browser: Browser,
    readonly service: RunningService,
    readonly teller: ConsoleStoryTeller,
    private readonly database: TestDatabase,
    private readonly receiver: Server,
  ) {}

  static async start(): Promise<RunningConsole> {
    const [browser, database, receiver] = await Promise.all([
      launchChromium(),
      createTestDatabase(),
      startReceiver(),
    ]);
    const service = await RunningService.start(database.url, {
      ...WITH_KEYS,
      ROLE: 'all',
      PAYMENT_PROVIDERS: 'sandbox',
      RATE_LIMIT_PER_MINUTE: '0',
      RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
      WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true',
      MONITORING_PORT: '0',
    });
    const teller = new ConsoleStoryTeller(service, BOOTSTRAP_KEY);
    return new RunningConsole(browser, service, teller, database, receiver);
  }

  get receiverUrl(): string {
    return `http://127.0.0.1:${(this.receiver.address() as AddressInfo).port}/`;
  }

  /** Creates an admin with the password of all test admins, and returns its email. */
  async admin(role: AdminRole): Promise<string> {
    const email = `${role}@example.com`;
    await this.teller.post('studio', { email, name: 'Ada', role, passwordHash: PASSWORD_HASH });
    return email;
  }

  async signIn(email: string): Promise<SignedInPage> {
    const { context, page, faults } = await openPage(this.browser);
    await page.goto(`${this.service.url}/studio`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    return { page, faults, close: () => context.close() };
  }

  /** Signs the owner in again, in the dialog that asks for it after the end of a session. */
  async signInAgain(page: Page): Promise<void> {
    const dialog = page.getByRole('dialog', { name: /^Your session has ended/ });
    await dialog.getByLabel('Email').fill('owner@example.com');
    await dialog.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
  }

  /** Opens a path of the console, and waits until its data is loaded. */
  async open(page: Page, path: string): Promise<void> {
    await page.goto(`${this.service.url}/studio${path}`);
    await page.locator('main h1').waitFor();
    await untilQuiet(page);
  }

  /** Shows a path in an open page of the console without reloading it, and waits until its data is loaded. */
  async show(page: Page, path: string): Promise<void> {
    await page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/studio${path}`)})`);
    await untilQuiet(page);
    await page.locator('main h1').waitFor();
  }

  /** Sends a test event to an endpoint, and marks its delivery as failed. */
  async failDelivery(endpoint: string): Promise<void> {
    const { id } = await this.teller.post(`webhooks/endpoints/${endpoint}/test`, {});
    await this.teller.delivered(id);
    await this.query(`UPDATE webhook_delivery SET status = 'failed' WHERE id = $1`, [id]);
  }

  /** Adds customers without any other objects, named `Customer 0` and so on. */
  addCustomers(count: number): Promise<void> {
    return this.query(ADD_CUSTOMERS, [count]);
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<void> {
    const client = new Client({ connectionString: this.database.url });
    await client.connect();
    await client.query(sql, [...values]);
    await client.end();
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.service.stop();
    await this.database.drop();
    this.receiver.closeAllConnections();
    this.receiver.close();
  }
}
