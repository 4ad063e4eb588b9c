// Pages with a sidebar and no conversation.

import { Sidebar } from "./sidebar.js";

new Sidebar();
