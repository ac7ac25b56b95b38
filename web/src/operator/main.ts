import { mount } from 'svelte';
import '../app/theme.css';
import { startClock } from '../app/clock.svelte';
import { door } from '../app/door';
import { listen } from '../app/router.svelte';
import { applySettings, watchSystem } from '../app/settings.svelte';
import { operator } from '../texts/en.operator';
import { add } from '../texts/index.svelte';
import Console from './Console.svelte';
import { loadSession } from './desk.svelte';

add(operator);
const dressed = applySettings();
watchSystem();
startClock();
listen();
door.logIn = '/operator/log-in';
door.lost = () => void loadSession();
void loadSession();

const target = document.getElementById('app');
if (!target) throw new Error('operator.html has no #app');
void dressed.then(() => mount(Console, { target }));
